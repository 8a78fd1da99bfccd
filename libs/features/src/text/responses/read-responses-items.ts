import type {
  AssistantPart,
  CallPart,
  FilePart,
  ImagePart,
  ResponsesBlock,
  ResponsesItem,
  ResponsesMessage,
  TextPart,
} from '#contracts';
import { withoutAbsent } from '../json-object.js';
import { argumentsWith } from '../tool-arguments.js';
import { readMediaAddress } from '../request-parts.js';
import { cannotTranslate } from '../refusals.js';
import type { TurnList } from '../turn-list.js';
import { summaryOf } from './compaction-item.js';
import { flatName } from './flat-tools.js';

/** Adds one item of `input` to the conversation. */
export function readResponsesItem(item: ResponsesItem, param: string, turns: TurnList): void {
  switch (item.type) {
    case 'function_call':
      turns.assistant([callOf(item, item.arguments)]);
      break;
    case 'custom_tool_call':
      turns.assistant([callOf(item, turns.arguments.written(argumentsWith(item.input)))]);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      turns.result(
        { callId: item.call_id, content: readBlocks(item.output, `${param}.output`), isError: false },
        `${param}.call_id`,
      );
      break;
    case 'reasoning': {
      const text = (item.summary ?? []).map((part) => part.text).join('\n\n');
      const signature = item.encrypted_content;
      if (text !== '' || signature) turns.assistant([withoutAbsent({ type: 'reasoning' as const, text, signature })]);
      break;
    }
    case 'compaction': {
      const summary = summaryOf(item);
      if (summary === undefined) throw cannotTranslate(param, 'a compaction that only its vendor can read');
      turns.user([asText(summary)]);
      break;
    }
    case 'item_reference':
      throw cannotTranslate(param, 'a reference to an item that is not stored here');
    default:
      readMessage(item, param, turns);
  }
}

const callOf = (
  { call_id: id, namespace, name }: { call_id: string; namespace?: string | null; name: string },
  json: string,
): CallPart => ({ type: 'call', id, name: flatName(namespace, name), arguments: json });

function readMessage(item: ResponsesMessage, param: string, turns: TurnList): void {
  const content = item.content ?? '';
  switch (item.role) {
    case 'user':
      turns.user(readBlocks(content, `${param}.content`));
      break;
    case 'assistant':
      turns.assistant([...readAssistantText(content, `${param}.content`), ...readNestedCalls(item)]);
      break;
    case 'tool':
      turns.result(
        { callId: item.tool_call_id ?? '', content: readBlocks(content, `${param}.content`), isError: false },
        `${param}.tool_call_id`,
      );
      break;
    default:
      turns.system(readPlainText(content, `${param}.content`));
  }
}

function readNestedCalls(item: ResponsesMessage): CallPart[] {
  return (item.tool_calls ?? []).map((call) => ({
    type: 'call',
    id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
  }));
}

type Content = string | readonly ResponsesBlock[];

const asText = (text: string): TextPart => ({ type: 'text', text });

function readBlocks(content: Content, param: string): (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string') return [asText(content)];
  return content.map((block, index) => readBlock(block, `${param}[${index}]`));
}

function readBlock(block: ResponsesBlock, param: string): TextPart | ImagePart | FilePart {
  switch (block.type) {
    case 'input_image': {
      if (block.image_url == null) throw cannotTranslate(`${param}.file_id`, 'an uploaded file');
      const address = typeof block.image_url === 'string' ? block.image_url : block.image_url.url;
      const detail = block.detail === 'original' ? 'high' : block.detail;
      return withoutAbsent<ImagePart>({ type: 'image', source: readMediaAddress(address), detail, param });
    }
    case 'input_file': {
      if (block.file_id) throw cannotTranslate(`${param}.file_id`, 'an uploaded file');
      const source = readMediaAddress(block.file_url ?? block.file_data ?? '');
      return withoutAbsent<FilePart>({ type: 'file', source, name: block.filename, param });
    }
    case 'refusal':
      return asText(block.refusal);
    case 'input_audio':
      throw cannotTranslate(param, 'audio');
    default:
      return asText(block.text);
  }
}

function readAssistantText(content: Content, param: string): AssistantPart[] {
  if (content === '') return [];
  return readBlocks(content, param).map((part, index) => {
    if (part.type === 'text') return part;
    throw cannotTranslate(`${param}[${index}]`, 'an image or file in an assistant turn');
  });
}

function readPlainText(content: Content, param: string): string {
  return readAssistantText(content, param)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n');
}
