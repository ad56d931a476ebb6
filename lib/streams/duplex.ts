/**
 * Both directions of a byte channel.
 *
 * `readable` errors when the channel breaks and closes when the other side ends its half;
 * `writable` rejects when the other side no longer takes bytes. Closing `writable` half-closes the
 * channel, cancelling `readable` says that nothing more is wanted. Neither closes the other.
 */
export interface ByteDuplex {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}
