import { createHash, randomUUID } from 'node:crypto';
import type { JsonObject } from '#contracts';
import { parsedObject } from '#platform';

/**
 * Which ids of calls are accepted: by a protocol, all that its own vendors give, so that theirs stay as they are; by vendors of chat,
 * those of their own.
 */
const ACCEPTED_IDS = {
  messages: /^[a-zA-Z0-9_-]{1,64}$/,
  responses: /^.{1,64}$/su,
  openaiChat: /^.{1,40}$/su,
  mistral: /^[a-zA-Z0-9]{9}$/,
} as const;

export type CallIdRule = keyof typeof ACCEPTED_IDS;

/** The id under which a call and its result are sent: a hash of its vendor's where that one would be refused. */
export function acceptedCallId(rule: CallIdRule, id: string): string {
  if (ACCEPTED_IDS[rule].test(id)) return id;
  // The same in every turn, so that a prompt cache stays valid.
  const hash = createHash('sha256').update(id).digest('hex');
  return rule === 'mistral' ? hash.slice(0, 9) : `call_${hash.slice(0, 24)}`;
}

/** Some vendors write nothing for a call without arguments, and others read arguments as JSON. */
export const argumentsAsJson = (json: string): string => (json.trim() === '' ? '{}' : json);

/**
 * Arguments for vendors that take objects alone. What a model wrote instead, or was cut off in, stands in a field of its own:
 * the result speaks of that mistake, and a model that is shown no arguments cannot mend them.
 */
export const argumentsAsObject = (json: string): JsonObject =>
  parsedObject(argumentsAsJson(json)) ?? { rawInvalidInput: json };

/** An id for a call whose upstream gave none. */
export const newCallId = (): string => `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
