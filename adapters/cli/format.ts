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

/** What passed beside the control pipe: `67.11 MB in, 16.78 MB out, 120 MB/s`. */
export function dataFigures(data: {
  readonly in: number;
  readonly out: number;
  readonly milliseconds: number;
}): string {
  const parts = [
    ...(data.in > 0 ? [`${bytes(data.in)} in`] : []),
    ...(data.out > 0 ? [`${bytes(data.out)} out`] : []),
  ];
  const passed = data.in + data.out;
  if (data.milliseconds > 0)
    parts.push(`${(passed / data.milliseconds / 1000).toFixed(passed > 1e7 ? 0 : 2)} MB/s`);
  return parts.join(", ");
}
