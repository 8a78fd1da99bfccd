import type { JsonObject } from '#contracts';
import { MISTRAL_MODELS, withTakenIds } from './chat-call-ids.js';

/** Stands between a result and what the user says next, which must follow something that the model has said. */
const HEARD = { role: 'assistant', content: 'OK.' };

/** The messages as the models of this name take them. */
export function asModelTakes(messages: readonly JsonObject[], model: string): readonly JsonObject[] {
  const taken = withTakenIds(messages, model);
  return MISTRAL_MODELS.test(model)
    ? taken.flatMap((message, place) => (isApart(taken, place) ? [HEARD, message] : [message]))
    : taken;
}

const isApart = (messages: readonly JsonObject[], place: number): boolean =>
  messages[place]?.['role'] === 'user' && messages[place - 1]?.['role'] === 'tool';
