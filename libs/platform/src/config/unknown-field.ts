import { getMetadataStorage, IS_OPTIONAL } from 'class-validator';
import { nearestName } from '#contracts';

export function fieldsOf(checkedClass: abstract new () => object): readonly string[] {
  const checks = getMetadataStorage().getTargetValidationMetadatas(checkedClass, '', false, false);
  return [...new Set(checks.map(({ propertyName }) => propertyName))];
}

/** The fields of a class of checked fields that may be left out. */
export function optionalFieldsOf(checkedClass: abstract new () => object): ReadonlySet<string> {
  const checks = getMetadataStorage().getTargetValidationMetadatas(checkedClass, '', false, false);
  return new Set(checks.flatMap(({ name, propertyName }) => (name === IS_OPTIONAL ? [propertyName] : [])));
}

/** What every JavaScript object has: `constructor`, `toString`, `__proto__` and others. */
const INHERITED_NAMES: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * The path to the first field, at any depth, that is named like something every object inherits; null when there is none.
 * The libraries that read and check classes take such a field for the inherited one, and fail or pass over it.
 */
export function inheritedNameIn(value: unknown): readonly string[] | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    if (INHERITED_NAMES.has(name)) return [name];
    const path = inheritedNameIn(inner);
    if (path) return [name, ...path];
  }
  return null;
}

/**
 * The hint about an unknown field, to be read after its name: the one that was probably meant, or all that
 * there are.
 */
export function unknownFieldRule(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  const hint = near === null ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
  return `is not a field here; ${hint}`;
}
