import type {
  AssistantPart,
  FilePart,
  ImagePart,
  MessagesBlock,
  MessagesDocumentBlock,
  MessagesImageBlock,
  MessagesSearchResultBlock,
  ReturnedPart,
  TextPart,
  UserPart,
} from '#contracts';
import { withoutAbsent } from '../json-object.js';
import { cannotTranslate } from '../refusals.js';
import type { TurnList } from '../turn-list.js';

/** Adds the blocks of a user or assistant message to the conversation. What a user says in one message stays together. */
export function readMessagesBlocks(
  blocks: readonly MessagesBlock[],
  role: 'user' | 'assistant',
  param: string,
  turns: TurnList,
): void {
  const said: UserPart[] = [];
  blocks.forEach((block, index) => {
    const place = `${param}[${index}]`;
    if (block.type === 'tool_result') {
      turns.user(said.splice(0));
      const content = readResult(block.content, `${place}.content`);
      turns.result({ callId: block.tool_use_id, content, isError: block.is_error ?? false }, `${place}.tool_use_id`);
    } else if (role === 'assistant') turns.assistant([readAssistantBlock(block, place, turns)]);
    else said.push(...readUserBlock(block, place));
  });
  turns.user(said);
}

function readUserBlock(block: MessagesBlock, param: string): ReturnedPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
      return [readImage(block, param)];
    case 'document':
      return readDocument(block, param);
    case 'search_result':
      return [readSearchResult(block, param)];
    case 'tool_reference':
      // Where loading cannot be deferred, it is among the tools from the beginning.
      return [{ type: 'text', text: `The tool "${block.tool_name}" can be called.` }];
    default:
      throw cannotTranslate(param, `a block of type "${block.type}"`);
  }
}

function readAssistantBlock(block: MessagesBlock, param: string, turns: TurnList): AssistantPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'tool_use':
      return { type: 'call', id: block.id, name: block.name, arguments: turns.arguments.written(block.input) };
    case 'thinking':
      return withoutAbsent({ type: 'reasoning' as const, text: block.thinking, signature: block.signature });
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', signature: block.data };
    default:
      throw cannotTranslate(param, `a block of type "${block.type}" in an assistant message`);
  }
}

function readImage({ source }: MessagesImageBlock, param: string): ImagePart {
  if (source.type === 'url') return { type: 'image', source: { kind: 'url', url: source.url }, param };
  if (source.type === 'base64')
    return { type: 'image', source: { kind: 'inline', mediaType: source.media_type, base64: source.data }, param };
  throw cannotTranslate(`${param}.source`, 'an uploaded file');
}

function readDocument({ source, title, context, citations }: MessagesDocumentBlock, param: string): ReturnedPart[] {
  if (citations?.enabled) throw cannotTranslate(`${param}.citations`, 'citations of documents');
  // No other interface has a place for it: it stands in front of the file.
  const about: TextPart[] = context ? inFront(title, context) : [];
  switch (source.type) {
    case 'text':
      return [{ type: 'text', text: [title, context, source.data].filter(Boolean).join('\n\n') }];
    case 'url':
      return [
        ...about,
        withoutAbsent<FilePart>({ type: 'file', source: { kind: 'url', url: source.url }, name: title, param }),
      ];
    case 'base64': {
      const inline = { kind: 'inline' as const, mediaType: source.media_type, base64: source.data };
      return [...about, withoutAbsent<FilePart>({ type: 'file', source: inline, name: title, param })];
    }
    case 'content':
      return [...inFront(title, context), ...readParts(source.content, `${param}.source.content`)];
    case 'file':
      throw cannotTranslate(`${param}.source`, 'an uploaded file');
    default:
      throw cannotTranslate(`${param}.source`, 'this kind of document source');
  }
}

function inFront(...said: readonly (string | null | undefined)[]): TextPart[] {
  const text = said.filter(Boolean).join('\n\n');
  return text === '' ? [] : [{ type: 'text', text }];
}

function readSearchResult({ source, title, content, citations }: MessagesSearchResultBlock, param: string): TextPart {
  if (citations?.enabled) throw cannotTranslate(`${param}.citations`, 'citations of search results');
  return { type: 'text', text: [title, source, ...content.map(({ text }) => text)].filter(Boolean).join('\n\n') };
}

type ResultContent = Extract<MessagesBlock, { type: 'tool_result' }>['content'];

const readResult = (content: ResultContent, param: string): ReturnedPart[] =>
  content === undefined || content === null ? [] : readParts(content, param);

function readParts(content: string | readonly MessagesBlock[], param: string): ReturnedPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((block, index) => readUserBlock(block, `${param}[${index}]`));
}
