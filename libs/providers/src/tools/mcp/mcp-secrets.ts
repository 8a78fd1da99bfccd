import type { JsonObject, JsonValue } from '#contracts';

/** What stands where a secret stood. */
const HIDDEN = '***';

/** A text of a server without what opens it, which it may echo. */
export const textWithoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((words, secret) => words.replaceAll(secret, HIDDEN), text);

/** What a server said, names of fields included, without what opens it: it is stored, and shown to a model. */
export function withoutSecrets<Sent extends object>(sent: Sent, secrets: readonly string[]): Sent {
  if (!secrets.some((secret) => JSON.stringify(sent).includes(JSON.stringify(secret).slice(1, -1)))) return sent;
  return JSON.parse(JSON.stringify(sent), (_, value: JsonValue) => opened(value, secrets)) as Sent;
}

function opened(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') return textWithoutSecrets(value, secrets);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value as JsonObject);
  return Object.fromEntries(fields.map(([name, field]) => [textWithoutSecrets(name, secrets), field]));
}
