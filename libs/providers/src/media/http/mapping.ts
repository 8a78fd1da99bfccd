import {
  hasAtMostCharacters,
  type JsonObject,
  type JsonValue,
  type MediaReference,
  type PlannedOrder,
} from '#contracts';
import { type FileAddress, NotMakeable } from './media-codec.js';

/** Refuses what a vendor lacks, by the name of the public field. @throws NotMakeable */
export function refuseIf(asked: boolean, param: string, sentence: string): void {
  if (asked) throw new NotMakeable(param, sentence);
}

/** Refuses a text that is longer than its vendor takes, in Unicode characters as everywhere. @throws NotMakeable */
export function refuseLonger(param: string, text: string | undefined, most: number): void {
  const fits = text === undefined || hasAtMostCharacters(text, most);
  refuseIf(!fits, param, `${param} has at most ${most} characters here.`);
}

/** The fields of a body that have a value. */
export const present = (fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, JsonValue] => field[1] !== undefined));

/** The file that an order has in a role; undefined when it has none. */
export function fileAs(order: PlannedOrder, role: MediaReference['role'], file: FileAddress): string | undefined {
  const reference = order.references.find((candidate) => candidate.role === role);
  return reference && file(reference.param);
}

/** The files of one medium that an order only refers to, in their order; undefined when there is none. */
export function referencesOf(
  order: PlannedOrder,
  medium: MediaReference['medium'],
  file: FileAddress,
): string[] | undefined {
  const found = order.references.filter((reference) => reference.medium === medium && reference.role === 'reference');
  return found.length > 0 ? found.map(({ param }) => file(param)) : undefined;
}

/** The seed that a caller chose: absent and -1 leave it to the vendor. */
export const chosenSeed = (seed: number | undefined): number | undefined =>
  seed === undefined || seed < 0 ? undefined : seed;
