import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import type { InputItem } from '../input-item-page.js';

/** What a caller may ask to be shown of items besides what is always shown. */
export const INCLUDABLE = [
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
] as const;
export type Includable = (typeof INCLUDABLE)[number];

/**
 * A stored item as lists show it: with its type, id and status, a message's content as parts. Images and sealed
 * reasoning are long, and shown on request.
 */
export function writeInputItem({ id, item }: InputItem, include: readonly Includable[]): JsonObject {
  const type = item['type'] ?? 'message';
  if (type === 'message') return messageItem(item, id, include);
  const whole = { ...item, id, type };
  if (type === 'function_call' || type === 'function_call_output') return { status: 'completed', ...whole };
  if (type !== 'reasoning') return whole;
  const shown = { summary: [], ...whole };
  if (include.includes('reasoning.encrypted_content')) return shown;
  const { encrypted_content: _sealed, ...open } = shown as JsonObject;
  return open;
}

function messageItem(item: JsonObject, id: string, include: readonly Includable[]): JsonObject {
  const { content } = item;
  const parts = Array.isArray(content) ? (content as readonly JsonValue[]) : textParts(content, item['role']);
  const shown = include.includes('message.input_image.image_url') ? parts : parts.map(withoutImage);
  return { status: 'completed', ...item, id, type: 'message', content: shown };
}

function textParts(content: JsonValue | undefined, role: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content !== 'string') return [];
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }];
}

const withoutImage = (part: JsonValue): JsonValue =>
  isJsonObject(part) && part['type'] === 'input_image' ? { ...part, image_url: null } : part;
