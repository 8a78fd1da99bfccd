import type { JsonObject } from '#contracts';
import type { Style } from './text-requests.js';

/** A user's message of the chat and messages styles, to be added to a plain request. */
export const user = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });
/** A user's message of the responses style. */
export const items = (...content: JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] });
/** A user's content of the gemini style. */
export const parts = (...all: JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts: all }] });
/** The one tool that is offered, in every style. */
export const tool = (definition: JsonObject): JsonObject => ({ tools: [definition] });

/** A tool that the caller runs, in each style. */
export const OWN_TOOL: Readonly<Record<Style, JsonObject>> = {
  responses: { type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} } },
  chat: { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } },
  messages: { name: 'look_up', input_schema: { type: 'object', properties: {} } },
  gemini: { functionDeclarations: [{ name: 'look_up' }] },
};
