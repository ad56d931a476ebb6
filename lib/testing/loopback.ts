import type { Driver, DriverOptions, ServeOptions } from "../driver/mod.ts";
import { connectDriver, type DriverIdentity, serveControl } from "../driver/mod.ts";
import { duplexPair } from "../streams/duplex-pair.ts";

/** What a driver in the same process serves; see `ServeOptions`. */
export interface LoopbackServeOptions extends Omit<ServeOptions, "identity" | "companion"> {
  /** What is left out is filled in with values of no meaning. */
  readonly identity?: Partial<DriverIdentity> | undefined;
}

/** How it is hosted; see `DriverOptions`. The clock is that of both sides. */
export interface LoopbackOptions extends DriverOptions {
  /** Whether there is a companion channel. Default `auto`: there is. */
  readonly companion?: "auto" | "off" | undefined;
  /** Bytes that each direction of a channel holds before its writer waits. Default 65 536. */
  readonly highWaterMark?: number | undefined;
}

/** Both ends of a session in one process. */
export interface Loopback {
  /** The host's end, in state HELLO: call `prepare()` next, and `close()` in the end. */
  readonly driver: Driver;
  /**
   * The driver's end: resolves when its session is over and its handler has returned, rejects with the
   * reason when it did not end by a shutdown or by the end of the host. Marked as handled.
   */
  readonly served: Promise<void>;
}

/**
 * Hosts a driver in the same process, without a child: control pipe and companion channel are in memory.
 *
 * Everything else is as between processes: frames are encoded and decoded, backpressure reaches the
 * handler, and `driver.close()` ends both sides. With a `VirtualClock` no limit of time passes unless the
 * test moves it, also those of a `close()` whose driver does not end by itself.
 *
 * @throws {ProtocolError} `unsupported_rpc_version`, `artifact_mismatch`, `permission_denied`; the driver's
 *   side has ended then.
 * @throws {SluiceError} `start_timeout`.
 * @throws {RangeError} When a limit is out of range.
 */
export async function loopback(
  serve: LoopbackServeOptions,
  options: LoopbackOptions = {},
): Promise<Loopback> {
  const { companion = "auto", highWaterMark, ...hosting } = options;
  const control = duplexPair({ highWaterMark });
  const data = companion === "off" ? undefined : duplexPair({ highWaterMark });
  const served = serveControl(control[1], {
    ...serve,
    identity: { ...IDENTITY, ...serve.identity },
    clock: serve.clock ?? options.clock,
    companion: data && { duplex: data[1] },
  });
  served.catch(() => {});
  try {
    return {
      driver: await connectDriver(control[0], { ...hosting, companion: data?.[0] }),
      served,
    };
  } catch (error) {
    await Promise.allSettled([served]);
    throw error;
  }
}

const IDENTITY: DriverIdentity = {
  name: "loopback",
  version: "0.0.0",
  runtime_name: "none",
  runtime_version: "0",
  os: "none",
  architecture: "none",
  artifact_digest: `sha256:${"0".repeat(64)}`,
};
