import type { JsonObject } from '#contracts';

/** A checked body, or a part of one, as the plain JSON it is. */
export const asJson = (value: object): JsonObject => value as JsonObject;

type AllowAbsent<T> = { [Key in keyof T]: undefined extends T[Key] ? T[Key] | null : T[Key] };
type OptionalKeys<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? Key : never }[keyof T];
type Loose<T> = T extends unknown
  ? Omit<T, OptionalKeys<T>> & { [Key in OptionalKeys<T>]?: AllowAbsent<T>[Key] | null | undefined }
  : never;

/** Drops fields that are null or undefined, so that an absent optional field is really absent. */
export function omitNullish<T extends object>(value: Loose<T>): T {
  const kept: Record<string, unknown> = {};
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) if (fields[name] != null) kept[name] = fields[name];
  return kept as T;
}
