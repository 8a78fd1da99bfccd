import { distance } from 'fastest-levenshtein';

/** Names longer than this are no typing mistake, and comparing them would cost time. */
const LONGEST_COMPARED = 48;

/** The known name that was probably meant, or null when none is near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  return nearestNames(name, known, 1)[0] ?? null;
}

/** The known names that were probably meant, nearest first, `limit` at most. */
export function nearestNames(name: string, known: readonly string[], limit: number): string[] {
  if (name.length > LONGEST_COMPARED) return [];
  const wanted = simplify(name);
  const ranked = known
    .map((candidate) => ({ candidate, steps: stepsTo(wanted, simplify(candidate)) }))
    .filter(({ candidate, steps }) => steps <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((left, right) => left.steps - right.steps);
  return ranked.slice(0, limit).map(({ candidate }) => candidate);
}

/** Shorter beginnings fit too many names. */
const SHORTEST_BEGINNING = 5;

/** A name that was not written to its end is nearer than any with a mistake. */
const stepsTo = (wanted: string, candidate: string): number =>
  wanted.length >= SHORTEST_BEGINNING && wanted !== candidate && candidate.startsWith(wanted)
    ? 0.5
    : distance(wanted, candidate);

/** Letter case and separators are what people mistype most; they do not count as a difference. */
const simplify = (name: string) => name.toLowerCase().replaceAll(/[-_. ]/g, '');
