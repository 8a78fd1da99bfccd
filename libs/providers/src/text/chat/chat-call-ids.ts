import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '#contracts';

/** What ids of calls the models of one vendor take. */
interface IdRule {
  readonly models: RegExp;
  readonly taken: RegExp;
  /** The id under which another is sent. */
  readonly instead: (hash: string) => string;
}

/** Models of one vendor, whose own servers and templates are stricter than those of all others. */
export const MISTRAL_MODELS = /(?:mis|minis|magis|devs|codes|pix|vox|mix)tral/i;

/** All other vendors take ids as any of them gives them; some models even read in one which function was called. */
const RULES: readonly IdRule[] = [
  { models: MISTRAL_MODELS, taken: /^[a-zA-Z0-9]{9}$/, instead: (hash) => hash.slice(0, 9) },
  {
    models: /(?:^|\/)(?:(?:chat)?gpt-|o\d)/i,
    taken: /^.{1,40}$/su,
    instead: (hash) => `call_${hash.slice(0, 24)}`,
  },
];

/**
 * The messages with ids of calls that models of this name take. Those stay as they are; of others they get a hash, which is
 * the same in every turn, so that a prompt cache stays valid.
 */
export function withTakenIds(messages: readonly JsonObject[], model: string): readonly JsonObject[] {
  const rule = RULES.find(({ models }) => models.test(model));
  return rule ? messages.map((message) => withTakenId(message, rule)) : messages;
}

function withTakenId(message: JsonObject, rule: IdRule): JsonObject {
  const { tool_calls: calls, tool_call_id: answered } = message;
  if (answered !== undefined) return { ...message, tool_call_id: takenId(answered, rule) };
  if (!Array.isArray(calls)) return message;
  const made = calls as readonly JsonObject[];
  return { ...message, tool_calls: made.map((call) => ({ ...call, id: takenId(call['id'], rule) })) };
}

const takenId = (id: JsonValue | undefined, { taken, instead }: IdRule): JsonValue =>
  typeof id !== 'string' || taken.test(id) ? (id ?? null) : instead(createHash('sha256').update(id).digest('hex'));
