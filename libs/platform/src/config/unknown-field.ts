import { getMetadataStorage } from 'class-validator';
import { distance } from 'fastest-levenshtein';

/** The fields that a class of checked fields has, by name. */
export function fieldsOf(checkedClass: abstract new () => object): readonly string[] {
  const checks = getMetadataStorage().getTargetValidationMetadatas(checkedClass, '', false, false);
  return [...new Set(checks.map(({ propertyName }) => propertyName))];
}

/**
 * What is said of a field that does not exist, to be read after its name: the one that was probably meant, or all that
 * there are.
 */
export function unknownFieldRule(name: string, known: readonly string[]): string {
  const near = known
    .map((field) => ({ field, slips: distance(name.toLowerCase().replaceAll('-', '_'), field.toLowerCase()) }))
    .filter(({ field, slips }) => slips <= Math.max(2, Math.floor(field.length / 3)))
    .toSorted((one, other) => one.slips - other.slips)[0];
  const hint = near ? `did you mean ${near.field}?` : `there are ${known.join(', ')}`;
  return `is not a field here; ${hint}`;
}
