import {
  type Citation,
  isJsonObject,
  type JsonObject,
  type MessagesHostedBlock,
  type MessagesRequest,
  type ToolStep,
} from '#contracts';
import { parsedObject } from '#platform';
import { asJson } from '../json-object.js';

/** How much of a source a citation repeats, in characters. */
const LONGEST_QUOTE = 150;

/** A citation in the style's own form. Files are cited as results of a search, web pages as the vendor cites them. */
export function writeCitation({ index, source }: Citation): JsonObject {
  if (source.kind === 'page') {
    const { url, title, text } = source.page;
    const cited = text.slice(0, LONGEST_QUOTE);
    return {
      type: 'web_search_result_location',
      url,
      title,
      cited_text: cited,
      encrypted_index: sealed(String(index)),
    };
  }
  const { fileId, filename, text } = source.passage;
  return {
    type: 'search_result_location',
    source: fileId,
    title: filename,
    cited_text: text,
    search_result_index: index,
    start_block_index: 0,
    end_block_index: 1,
  };
}

const SEAL = 'gw:';

/** What clients only carry. It is no secret: it keeps them from reading meaning into it. */
const sealed = (text: string): string => SEAL + Buffer.from(text).toString('base64');

/** What stands in a seal of ours; undefined for one of a vendor's. */
const unsealed = (seal: unknown): string | undefined =>
  typeof seal === 'string' && seal.startsWith(SEAL)
    ? Buffer.from(seal.slice(SEAL.length), 'base64').toString('utf8')
    : undefined;

const inputOf = (json: string): JsonObject => parsedObject(json) ?? {};

/** A step as two blocks: the call and its result. The list of a server's tools has no form here. */
export function stepBlocks(step: ToolStep): readonly MessagesHostedBlock[] {
  switch (step.type) {
    case 'file_search': {
      const id = `srvtoolu_${step.id}`;
      const content = step.passages.map(({ fileId, filename, text }): JsonObject => ({
        type: 'search_result',
        source: fileId,
        title: filename,
        content: [{ type: 'text', text }],
      }));
      const failed: JsonObject = { type: 'file_search_tool_result_error', error_code: 'unavailable' };
      return [
        { type: 'server_tool_use', id, name: 'file_search', input: { query: step.query } },
        { type: 'file_search_tool_result', tool_use_id: id, content: step.failure === undefined ? content : failed },
      ];
    }
    case 'web_search': {
      const id = `srvtoolu_${step.id}`;
      const content = step.pages.map(({ url, title, text, age }): JsonObject => ({
        type: 'web_search_result',
        url,
        title,
        encrypted_content: sealed(text),
        page_age: age ?? null,
      }));
      const failed: JsonObject = { type: 'web_search_tool_result_error', error_code: 'unavailable' };
      return [
        { type: 'server_tool_use', id, name: 'web_search', input: { query: step.query } },
        { type: 'web_search_tool_result', tool_use_id: id, content: step.failure === undefined ? content : failed },
      ];
    }
    case 'mcp_call': {
      const id = `mcptoolu_${step.id}`;
      const said = step.failure ?? step.output ?? '';
      return [
        { type: 'mcp_tool_use', id, name: step.name, server_name: step.server, input: inputOf(step.arguments) },
        {
          type: 'mcp_tool_result',
          tool_use_id: id,
          is_error: step.failure !== undefined,
          content: [{ type: 'text', text: said }],
        },
      ];
    }
    default:
      return [];
  }
}

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
