import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue, MediaSource, TextProtocol } from '#contracts';
import type { ProtocolOptions } from './protocol-codec.js';

/** A JSON object of the fields that have a value: an absent field is left out, never sent as null. */
export function present(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** The list itself, or undefined when it is empty: most interfaces refuse empty lists. */
export const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);

/** The longest name of a user, or key of the prompt cache, that two of the interfaces take, in characters. */
const LONGEST = 64;

/** The longest name of a user that messages vendors take. */
const LONGEST_OF_MESSAGES = 256;

/** Messages vendors refuse names by which a person could be reached. */
const REACHES_PERSON = /@|^\+?[\d\s().-]{7,}$/;

/** Always the same, so that a vendor goes on telling users apart and finds its prompt cache. */
const hashed = (label: string): string => createHash('sha256').update(label).digest('hex');

/** What a chat or responses vendor is sent for a label of the caller's: its hash where it is too long, as those of agents are. */
export const acceptedLabel = (label: string | undefined): string | undefined =>
  label === undefined || label.length <= LONGEST ? label : hashed(label);

/** What a messages vendor is sent for the name of a user. */
export const acceptedUserId = (user: string): string =>
  user.length > LONGEST_OF_MESSAGES || REACHES_PERSON.test(user) ? hashed(user) : user;

/** The lowest output limit that a protocol takes, in tokens. A lower one of the caller's is sent as this. */
export const leastOutputLimit = (protocol: TextProtocol): number => (protocol === 'responses' ? 16 : 1);

/** Reasoning models of one vendor that refuse every temperature but the usual, with or without the name of a maker in front. */
const USUAL_ONLY = /(?:^|\/)(?:o[134](?:-|$)|gpt-5(?:$|-(?:mini|nano|pro|codex|\d{4})))/i;

/** Whether a chat or responses upstream is sent temperature and its like, which some models refuse. */
export const takesSampling = (model: string, { takesSampling: isSent }: ProtocolOptions): boolean =>
  isSent ?? !USUAL_ONLY.test(model);

/** An image or file as one string: its URL, or a data URI. */
export const mediaAddress = (source: MediaSource): string =>
  source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;

/** What a function returned, for protocols that have no other field to mark a failure. */
export const failedText = (text: string, isError: boolean): string =>
  isError && !/^\W*error/i.test(text) ? `Error: ${text}` : text;
