import type { JsonObject } from '#contracts';
import { acceptedCallId, type CallIdRule } from '../upstream/call-fields.js';

/** Models of one vendor, whose own servers and templates are stricter than those of all others. */
const MISTRAL_MODELS = /(?:mis|minis|magis|devs|codes|pix|vox|mix)tral/i;

const OPENAI_MODELS = /(?:^|\/)(?:(?:chat)?gpt-|o\d)/i;

/** Stands between a result and what the user says next, which must follow something that the model has said. */
const HEARD = { role: 'assistant', content: 'OK.' };

/** The messages as models of this name accept them. */
export function acceptedMessages(messages: readonly JsonObject[], model: string): readonly JsonObject[] {
  if (MISTRAL_MODELS.test(model)) return heardResults(messages).map((message) => withAcceptedIds(message, 'mistral'));
  // Other vendors accept any id, and Kimi models read the name of the function in theirs.
  return OPENAI_MODELS.test(model) ? messages.map((message) => withAcceptedIds(message, 'openaiChat')) : messages;
}

const heardResults = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.flatMap((message, place) => {
    const followsResult = message['role'] === 'user' && messages[place - 1]?.['role'] === 'tool';
    return followsResult ? [HEARD, message] : [message];
  });

function withAcceptedIds(message: JsonObject, rule: CallIdRule): JsonObject {
  const { tool_calls: calls, tool_call_id: answered } = message;
  if (typeof answered === 'string') return { ...message, tool_call_id: acceptedCallId(rule, answered) };
  if (!Array.isArray(calls)) return message;
  const made = calls as readonly (JsonObject & { readonly id: string })[];
  return { ...message, tool_calls: made.map((call) => ({ ...call, id: acceptedCallId(rule, call.id) })) };
}
