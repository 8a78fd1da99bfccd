import {
  type AssistantPart,
  type CallPart,
  type ChatMessage,
  type ChatPart,
  type ChatToolCall,
  type FilePart,
  type ImagePart,
  isCustomCall,
  type TextPart,
} from '#contracts';
import { withoutAbsent } from '../absent.js';
import { argumentsOfText } from '../free-form-tools.js';
import { readMediaAddress } from '../media-source.js';
import { cannotTranslate } from '../refusals.js';
import type { TurnList } from '../turn-list.js';
import { withReasoning } from './chat-reasoning.js';

/** Adds one message to the conversation. */
export function readChatMessage(message: ChatMessage, param: string, turns: TurnList): void {
  const content = message.content ?? '';
  switch (message.role) {
    case 'user':
      turns.user(readContent(content, `${param}.content`));
      break;
    case 'assistant':
      turns.assistant(readAssistant(message, param));
      break;
    case 'tool':
      turns.result(
        { callId: message.tool_call_id ?? '', content: readContent(content, `${param}.content`), isError: false },
        `${param}.tool_call_id`,
      );
      break;
    case 'function':
      throw cannotTranslate(`${param}.role`, 'the former role "function" (now "tool")');
    default:
      turns.system(plainText(content, `${param}.content`));
  }
}

type Content = string | readonly ChatPart[];

const asText = (text: string): TextPart => ({ type: 'text', text });

function readContent(content: Content, param: string): (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string') return [asText(content)];
  return content.map((part, index) => readPart(part, `${param}[${index}]`));
}

function readPart(part: ChatPart, param: string): TextPart | ImagePart | FilePart {
  switch (part.type) {
    case 'text':
      return asText(part.text);
    case 'refusal':
      return asText(part.refusal);
    case 'image_url': {
      const { url, detail } = part.image_url;
      return withoutAbsent<ImagePart>({ type: 'image', source: readMediaAddress(url), detail });
    }
    case 'input_audio': {
      const { data: base64, format } = part.input_audio;
      return { type: 'file', source: { kind: 'inline', mediaType: `audio/${format}`, base64 } };
    }
    case 'file': {
      const { file_data: data, filename } = part.file;
      if (data == null) throw cannotTranslate(`${param}.file.file_id`, 'an uploaded file');
      return withoutAbsent<FilePart>({ type: 'file', source: readMediaAddress(data), name: filename });
    }
    default:
      throw cannotTranslate(param, `a part of type "${(part as { type: string }).type}"`);
  }
}

function readAssistant(message: ChatMessage, param: string): AssistantPart[] {
  if (message.function_call) throw cannotTranslate(`${param}.function_call`, 'the former form of tool_calls');
  if (message.audio) throw cannotTranslate(`${param}.audio`, 'speech of an earlier turn');
  const { content, refusal } = message;
  const calls = (message.tool_calls ?? []).map((call, index) => readCall(call, `${param}.tool_calls[${index}]`));
  const said = [...readSaid(content ?? '', `${param}.content`), ...readSaid(refusal ?? '', `${param}.refusal`)];
  return withReasoning(message, said, calls);
}

function readSaid(content: Content, param: string): TextPart[] {
  return content === '' ? [] : textParts(content, param, 'an image or file in an assistant message');
}

function readCall(call: ChatToolCall, param: string): CallPart {
  if (isCustomCall(call))
    return { type: 'call', id: call.id, name: call.custom.name, arguments: argumentsOfText(call.custom.input) };
  if ((call.type ?? 'function') !== 'function') throw cannotTranslate(param, `a call of type "${call.type}"`);
  return { type: 'call', id: call.id, name: call.function.name, arguments: call.function.arguments };
}

function textParts(content: Content, param: string, otherwise: string): TextPart[] {
  return readContent(content, param).map((part, index) => {
    if (part.type === 'text') return part;
    throw cannotTranslate(`${param}[${index}]`, otherwise);
  });
}

const plainText = (content: Content, param: string): string =>
  textParts(content, param, 'an image or file in a system message')
    .map(({ text }) => text)
    .join('\n');
