import type { JsonObject } from '#contracts';

/** Kept for five minutes, which is what the price book knows. */
const CACHE_CONTROL = { cache_control: { type: 'ephemeral' } };

/** Blocks that cannot carry a mark. */
const UNMARKED = new Set<unknown>(['thinking', 'redacted_thinking']);

/** How many turns of the user are marked: this one, and the one before, whose cache it continues from. */
const MARKED_TURNS = 2;

/**
 * A messages body that says what to keep in the vendor's prompt cache, which without a word keeps nothing: tools and
 * system prompt, which come first, and the conversation so far. The next turn of an agent then pays little for them. Three
 * marks of the four there may be.
 */
export function withCacheMarks(body: JsonObject): JsonObject {
  const messages = body['messages'] as readonly JsonObject[];
  const users = messages.flatMap(({ role }, place) => (role === 'user' ? [place] : [])).slice(-MARKED_TURNS);
  return {
    ...body,
    ...markedBeginning(body),
    messages: messages.map((message, place) => (users.includes(place) ? withMarkedEnd(message) : message)),
  };
}

/** Tools stand before the system prompt: a mark on the one covers the other. */
function markedBeginning({ system, tools }: JsonObject): JsonObject {
  if (typeof system === 'string') return { system: [{ type: 'text', text: system, ...CACHE_CONTROL }] };
  return Array.isArray(tools) ? { tools: markLast(tools as readonly JsonObject[]) } : {};
}

const withMarkedEnd = (message: JsonObject): JsonObject => ({
  ...message,
  content: markLast(message['content'] as readonly JsonObject[]),
});

const markLast = (blocks: readonly JsonObject[]): JsonObject[] =>
  blocks.map((block, place) =>
    place === blocks.length - 1 && !UNMARKED.has(block['type']) ? { ...block, ...CACHE_CONTROL } : block,
  );
