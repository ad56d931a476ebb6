/** Longer words are no misspellings of ours. */
const MAX_LENGTH = 40;
const MAX_DISTANCE = 2;

/** Gives `; did you mean "run"?` when a known word is close to what was typed, else nothing. */
export function suggestion(typed: string, known: readonly string[]): string {
  if (typed.length > MAX_LENGTH) return "";
  const ranked = known
    .map((word) => ({ word, distance: distance(typed.toLowerCase(), word) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  // Half of the letters changed is another word.
  if (best === undefined || best.distance > Math.min(MAX_DISTANCE, best.word.length / 2)) return "";
  return `; did you mean ${JSON.stringify(best.word)}?`;
}

/** Letters to insert, remove, replace or swap with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const line = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(above[j]! + 1, line[j - 1]! + 1, above[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      line.push(least);
    }
    before = above;
    above = line;
  }
  return above[b.length]!;
}
