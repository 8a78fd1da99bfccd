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
import { withoutAbsent } from '../json-object.js';
import { argumentsWith } from '../tool-arguments.js';
import { readMediaAddress } from '../request-parts.js';
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
      turns.assistant(readAssistant(message, param, turns));
      break;
    case 'tool':
      turns.result(
        { callId: message.tool_call_id ?? '', content: readContent(content, `${param}.content`), isError: false },
        `${param}.tool_call_id`,
      );
      break;
    case 'function':
      readLegacyResult(message, param, turns);
      break;
    default:
      turns.system(plainText(content, `${param}.content`));
  }
}

/** It names its function where the newer form has the id of its call. */
function readLegacyResult({ name, content }: ChatMessage, param: string, turns: TurnList): void {
  const returned = readContent(content ?? '', `${param}.content`);
  turns.result({ callId: '', name: name ?? '', content: returned, isError: false }, `${param}.name`);
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
      return withoutAbsent<ImagePart>({ type: 'image', source: readMediaAddress(url), detail, param });
    }
    case 'input_audio': {
      const { data: base64, format } = part.input_audio;
      return { type: 'file', source: { kind: 'inline', mediaType: `audio/${format}`, base64 }, param };
    }
    case 'file': {
      const { file_data: data, filename } = part.file;
      if (data == null) throw cannotTranslate(`${param}.file.file_id`, 'an uploaded file');
      return withoutAbsent<FilePart>({ type: 'file', source: readMediaAddress(data), name: filename, param });
    }
    default:
      throw cannotTranslate(param, `a part of type "${(part as { type: string }).type}"`);
  }
}

function readAssistant(message: ChatMessage, param: string, turns: TurnList): AssistantPart[] {
  if (message.audio) throw cannotTranslate(`${param}.audio`, 'audio of an earlier turn');
  const { content, refusal } = message;
  const calls = readCalls(message, param, turns);
  const said = [...readSaid(content ?? '', `${param}.content`), ...readSaid(refusal ?? '', `${param}.refusal`)];
  return withReasoning(message, said, calls);
}

function readSaid(content: Content, param: string): TextPart[] {
  return content === '' ? [] : textParts(content, param, 'an image or file in an assistant message');
}

function readCalls(
  { tool_calls: sent, function_call: legacy }: ChatMessage,
  param: string,
  turns: TurnList,
): CallPart[] {
  const calls = (sent ?? []).map((call, index) => readCall(call, `${param}.tool_calls[${index}]`, turns));
  if (!legacy) return calls;
  if (calls.length > 0) throw cannotTranslate(`${param}.function_call`, 'the legacy form of tool_calls beside them');
  return [{ type: 'call', id: turns.nextCallId(), name: legacy.name, arguments: legacy.arguments }];
}

function readCall(call: ChatToolCall, param: string, turns: TurnList): CallPart {
  if (isCustomCall(call)) {
    const json = turns.arguments.written(argumentsWith(call.custom.input));
    return { type: 'call', id: call.id, name: call.custom.name, arguments: json };
  }
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
