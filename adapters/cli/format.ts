/** A count with its thousands marked: `2,031`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** A count with its noun: `1 observation`, `2,031 observations`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A number of bytes: `812 B`, `3.4 kB`, `0.61 MB`. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 100_000) return `${(value / 1000).toFixed(1)} kB`;
  return `${(value / 1e6).toFixed(2)} MB`;
}

/** A time in seconds: `0.247 s`. */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 3 : 1)} s`;
}

/** What passed in some time. */
export interface Amount {
  readonly observations: number;
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Observations and megabytes for each second; 0 when no time has passed. */
export function rates({ observations, bytes: size, milliseconds }: Amount): {
  readonly observationsPerSecond: number;
  readonly megabytesPerSecond: number;
} {
  if (milliseconds <= 0) return { observationsPerSecond: 0, megabytesPerSecond: 0 };
  return {
    observationsPerSecond: Math.round((observations / milliseconds) * 1000),
    megabytesPerSecond: Number((size / milliseconds / 1000).toFixed(3)),
  };
}

/** A throughput: `8,202 observations/s, 2.46 MB/s`. */
export function throughput(amount: Amount): string {
  const { observationsPerSecond, megabytesPerSecond } = rates(amount);
  return `${count(observationsPerSecond)} observations/s, ${megabytesPerSecond.toFixed(2)} MB/s`;
}
