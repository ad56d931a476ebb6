import type { ByteDuplex } from "../../streams/duplex.ts";
import type { Driver } from "./driver.ts";
import { HostedDriver } from "./hosted-driver.ts";
import type { DriverOptions } from "./options.ts";

/**
 * Hosts a driver over any byte channel: says hello and gives the session.
 *
 * @param control The control channel; both of its streams are locked from here on.
 * @returns The driver in state HELLO: call `prepare()` next.
 * @throws {ProtocolError} `unsupported_rpc_version`, `artifact_mismatch`, `permission_denied`, or what the driver refused.
 * @throws {SluiceError} `start_timeout`, `protocol_fault`, `connection_closed`.
 */
export function connectDriver(control: ByteDuplex, options: DriverOptions = {}): Promise<Driver> {
  return HostedDriver.start(control, options);
}
