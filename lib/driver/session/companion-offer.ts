import type { ByteDuplex } from "../../streams/duplex.ts";

/** The address of a companion channel, as the driver's environment names it. */
export const COMPANION_ENV = "SLUICE_COMPANION";
/** The token that the driver shows when it opens the channel. */
export const COMPANION_TOKEN_ENV = "SLUICE_COMPANION_TOKEN";

/** A companion channel that a host offers to one driver. */
export interface CompanionOffer {
  /** What the driver must show in its hello; undefined where the channel itself proves who it is. */
  readonly token?: string | undefined;
  /**
   * The channel: there already, or once the driver has opened it. Never rejects; a channel that is
   * never opened never resolves.
   */
  readonly channel: ByteDuplex | Promise<ByteDuplex>;
  /** Takes the offer back: nothing can be opened any more. An open channel stays as it is. */
  withdraw(): void;
}
