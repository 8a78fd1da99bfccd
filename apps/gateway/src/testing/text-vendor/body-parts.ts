import type { JsonObject } from '#contracts';

/** A user's message of the chat and messages styles, to be added to a plain request. */
export const user = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });
/** A user's message of the responses style. */
export const items = (...content: JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] });
/** A user's content of the gemini style. */
export const parts = (...all: JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts: all }] });
/** The one tool that is offered, in every style. */
export const tool = (definition: JsonObject): JsonObject => ({ tools: [definition] });
