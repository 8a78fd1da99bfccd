import { isJsonObject, type JsonObject, type MessagesRequest } from '#contracts';
import { asJson } from '../json-object.js';
import { unsealed } from './messages-steps.js';

type Message = MessagesRequest['messages'][number];

const CALLS = new Set(['server_tool_use', 'mcp_tool_use']);
const RESULTS = new Set(['web_search_tool_result', 'file_search_tool_result', 'mcp_tool_result']);

/** How ids of the gateway's own steps end. */
const OWN_ID = /_gw[0-9a-f]{24}$/;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const idOf = (block: JsonObject): string => textOf(block['tool_use_id'] ?? block['id']);

const SEARCHES: ReadonlySet<unknown> = new Set(['web_search', 'file_search']);

/** A call of code that ran at a vendor is none that a function could stand for. */
const isStep = ({ type, name }: JsonObject): boolean =>
  typeof type === 'string' && (type === 'server_tool_use' ? SEARCHES.has(name) : CALLS.has(type) || RESULTS.has(type));

/** Whether a block is of a tool that the gateway ran, which no vendor knows about. */
const isOwn = (block: JsonObject): boolean => isStep(block) && OWN_ID.test(idOf(block));

/** What was found or returned, in words. */
function wordsOf(result: JsonObject): string {
  const { content } = result;
  if (!Array.isArray(content)) return 'Error: the tool failed.';
  const texts = (content as unknown[]).map((part) => {
    if (!isJsonObject(part)) return '';
    const { type, text, title, url, encrypted_content: seal, content: inner } = part as JsonObject;
    if (type === 'text') return textOf(text);
    if (type === 'web_search_result') return [textOf(title), textOf(url), unsealed(seal) ?? ''].join('\n');
    return [textOf(title), wordsOf({ content: inner ?? [] })].join('\n');
  });
  return texts.join('\n\n');
}

/**
 * A conversation in which tools that were run for the caller stand as calls of functions and what they returned, which every
 * protocol can say: the call ends its message, its result is one of the user's, and what follows is another message.
 *
 * @param onlyOwn leaves what a vendor ran as it is, for that vendor.
 * @returns the same conversation when it holds none.
 */
export function readableMessages(messages: readonly Message[], onlyOwn: boolean): readonly Message[] {
  const isRead = onlyOwn ? isOwn : isStep;
  const holdsOne = ({ role, content }: Message): boolean =>
    role === 'assistant' && typeof content !== 'string' && content.some((block) => isRead(asJson(block)));
  if (!messages.some(holdsOne)) return messages;
  return messages.flatMap((message) => (holdsOne(message) ? readableMessage(message, isRead) : [message]));
}

function readableMessage({ content }: Message, isRead: (block: JsonObject) => boolean): Message[] {
  const blocks = (typeof content === 'string' ? [] : content).map((block) => asJson(block));
  const results = new Map(
    blocks.flatMap((block) => (RESULTS.has(textOf(block['type'])) ? [[idOf(block), block] as const] : [])),
  );
  const messages: { role: 'user' | 'assistant'; content: JsonObject[] }[] = [];
  const say = (role: 'user' | 'assistant', block: JsonObject): void => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(block);
    else messages.push({ role, content: [block] });
  };
  for (const block of blocks) {
    if (!isRead(block)) say('assistant', withoutCitations(block));
    else if (CALLS.has(textOf(block['type']))) {
      const result = results.get(idOf(block));
      // A call of ours without a result has no meaning; a vendor's call only the vendor understands.
      if (!result && !OWN_ID.test(idOf(block))) say('assistant', block);
      if (!result) continue;
      const { name = '', input = {} } = block;
      say('assistant', { type: 'tool_use', id: idOf(block), name, input });
      const isError = result['is_error'] === true;
      say('user', { type: 'tool_result', tool_use_id: idOf(block), content: wordsOf(result), is_error: isError });
    }
  }
  return messages as unknown as Message[];
}

/** They point into results that are not there any more. */
function withoutCitations(block: JsonObject): JsonObject {
  if (block['type'] !== 'text' || block['citations'] == null) return block;
  const { citations: _citations, ...rest } = block;
  return rest;
}
