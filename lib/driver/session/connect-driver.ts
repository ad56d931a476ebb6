import type { ByteDuplex } from "../../streams/duplex.ts";
import type { Driver } from "./driver.ts";
import { HostedDriver } from "./hosted-driver.ts";
import type { DriverOptions } from "./options.ts";

/** Options of a driver over byte channels. */
export interface ConnectOptions extends DriverOptions {
  /** The companion channel, which the driver's side has at its other end. Default: none. */
  readonly companion?: ByteDuplex | undefined;
}

/**
 * Hosts a driver over any byte channel: says hello and gives the session.
 *
 * @param control The control channel; both of its streams are locked from here on.
 * @returns The driver in state HELLO: call `prepare()` next.
 * @throws {ProtocolError} `unsupported_rpc_version`, `artifact_mismatch`, `permission_denied`, or what the driver refused.
 * @throws {CompanionFault} `unavailable` when the driver lists the companion channel and does not open it.
 * @throws {SluiceError} `start_timeout`, `protocol_fault`, `connection_closed`.
 */
export function connectDriver(control: ByteDuplex, options: ConnectOptions = {}): Promise<Driver> {
  const { companion } = options;
  return HostedDriver.start(control, options, {
    policy: "auto",
    offer: companion && { channel: companion, withdraw: () => {} },
  });
}
