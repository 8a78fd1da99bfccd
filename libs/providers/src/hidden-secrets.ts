import { isJsonObject, type JsonValue } from '#contracts';

/** What stands where a secret stood. */
export const HIDDEN = '[hidden]';

export const textWithoutSecrets = (text: string, secrets: readonly string[], hidden = HIDDEN): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, hidden), text);

/**
 * What another side sent without the secrets that were sent to it, which it may repeat in any text and name of a field: parts of it are
 * stored and shown. What holds none is searched and not copied.
 */
export function valueWithoutSecrets<Value>(value: Value, secrets: readonly string[], hidden = HIDDEN): Value {
  const holdsOne = (part: JsonValue): boolean => {
    if (typeof part === 'string') return secrets.some((secret) => part.includes(secret));
    if (Array.isArray(part)) return part.some(holdsOne);
    return isJsonObject(part) && Object.entries(part).some(([name, inner]) => holdsOne(name) || holdsOne(inner));
  };
  const hide = (part: JsonValue): JsonValue => {
    if (typeof part === 'string') return textWithoutSecrets(part, secrets, hidden);
    if (Array.isArray(part)) return part.map(hide);
    if (!isJsonObject(part)) return part;
    const named = Object.entries(part).map(([name, inner]) => [textWithoutSecrets(name, secrets, hidden), hide(inner)]);
    return Object.fromEntries(named) as JsonValue;
  };
  return holdsOne(value as JsonValue) ? (hide(value as JsonValue) as Value) : value;
}
