import { createHash } from 'node:crypto';
import type { JsonObject } from '#contracts';
import { parsedObject } from '#platform';

/** What ids of calls a protocol takes: those that its own vendors give, so that theirs always stay as they are. */
const ID_RULES = { messages: /^[a-zA-Z0-9_-]{1,64}$/, responses: /^.{1,64}$/su } as const;

/** The id under which a call and its result are sent: a hash of its vendor's where this protocol would refuse that one. */
export function acceptedCallId(protocol: keyof typeof ID_RULES, id: string): string {
  if (ID_RULES[protocol].test(id)) return id;
  // The same in every turn, so that a prompt cache stays valid.
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

/** Some vendors write nothing for a call without arguments, and others read arguments as JSON. */
export const argumentsAsJson = (json: string): string => (json.trim() === '' ? '{}' : json);

/**
 * Arguments for vendors that take objects alone. What a model wrote instead, or was cut off in, stands in a field of its own:
 * the result speaks of that mistake, and a model that is shown no arguments cannot mend them.
 */
export const argumentsAsObject = (json: string): JsonObject =>
  parsedObject(argumentsAsJson(json)) ?? { rawInvalidInput: json };
