import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '#contracts';

/** Models of one vendor, whose own servers and templates are stricter than those of all others. */
const MODELS = /(?:mis|minis|magis|devs|codes|pix|vox|mix)tral/i;

const OWN_ID = /^[a-zA-Z0-9]{9}$/;
const ID_CHARACTERS = 9;

/** Its own ids stay as they are; of others it gets a hash, the same in every turn, so that a prompt cache stays valid. */
const acceptedId = (id: JsonValue | undefined): JsonValue =>
  typeof id !== 'string' || OWN_ID.test(id)
    ? (id ?? null)
    : createHash('sha256').update(id).digest('hex').slice(0, ID_CHARACTERS);

/** Stands between a result and what the user says next, which must follow something that the model has said. */
const HEARD = { role: 'assistant', content: 'OK.' };

/** The messages as this vendor takes them; as they are for models of all others. */
export function asMistralTakes(messages: readonly JsonObject[], model: string): readonly JsonObject[] {
  if (!MODELS.test(model)) return messages;
  return messages.flatMap((message, place) => {
    const isApart = message['role'] === 'user' && messages[place - 1]?.['role'] === 'tool';
    return isApart ? [HEARD, message] : [withAcceptedIds(message)];
  });
}

function withAcceptedIds(message: JsonObject): JsonObject {
  const { tool_calls: calls, tool_call_id: answered } = message;
  if (answered !== undefined) return { ...message, tool_call_id: acceptedId(answered) };
  if (!Array.isArray(calls)) return message;
  const made = calls as readonly JsonObject[];
  return { ...message, tool_calls: made.map((call) => ({ ...call, id: acceptedId(call['id']) })) };
}
