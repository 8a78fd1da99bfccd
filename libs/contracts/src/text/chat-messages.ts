import { isJsonObject, type JsonObject } from '../json.js';
import { Optional, Required, type FieldCheck } from './body-check.js';
import { all, choice, jsonObject, listOf, object, stringOr, text, variants } from './field-checks.js';
import { AudioPart } from './audio-part.js';
import { imageAddress, inlineFile } from './image-checks.js';

class TextPart {
  @Required(text()) text!: string;
}

class RefusalPart {
  @Required(text()) refusal!: string;
}

class ImageUrl {
  @Required(imageAddress()) url!: string;
  @Optional(choice(['low', 'high', 'auto'])) detail?: 'low' | 'high' | 'auto';
}

class ImagePart {
  @Required(object(ImageUrl)) image_url!: ImageUrl;
}

class SentFile {
  @Optional(text()) filename?: string | null;
  @Optional(inlineFile()) file_data?: string | null;
  @Optional(text({ min: 1 })) file_id?: string | null;
}

const exactlyOneSource: FieldCheck = (value, param, report) => {
  if (isJsonObject(value) && (value['file_data'] == null) === (value['file_id'] == null))
    report(param, 'invalid_parameter', `${param} needs exactly one of file_data and file_id.`);
};

class FilePart {
  @Required(all(object(SentFile), exactlyOneSource)) file!: SentFile;
}

/** A part of a content; other types pass only to an upstream of this protocol. */
const contentPart = variants(
  { text: TextPart, refusal: RefusalPart, image_url: ImagePart, input_audio: AudioPart, file: FilePart },
  { others: 'pass-through' },
);

export type ChatPart =
  | ({ type: 'text' } & TextPart)
  | ({ type: 'refusal' } & RefusalPart)
  | ({ type: 'image_url' } & ImagePart)
  | ({ type: 'input_audio' } & AudioPart)
  | ({ type: 'file' } & FilePart);

class CalledFunction {
  @Required(text({ min: 1 })) name!: string;
  @Required(text()) arguments!: string;
}

class FunctionCall {
  @Required(text({ min: 1 })) id!: string;
  @Required(object(CalledFunction)) function!: CalledFunction;
  /** Where vendors put their proof of the reasoning that led to the call, `google.thought_signature`. */
  @Optional(jsonObject()) extra_content?: JsonObject | null;
}

class CalledCustom {
  @Required(text({ min: 1 })) name!: string;
  @Required(text()) input!: string;
}

/** A call of a tool whose input is a text and no JSON. */
class CustomCall {
  @Required(text({ min: 1 })) id!: string;
  @Required(object(CalledCustom)) custom!: CalledCustom;
  @Optional(jsonObject()) extra_content?: JsonObject | null;
}

/** A call in an assistant message; other types pass only to an upstream of this protocol. */
export type ChatToolCall = ({ type?: 'function' | null } & FunctionCall) | ({ type: 'custom' } & CustomCall);

export const isCustomCall = (call: ChatToolCall): call is { type: 'custom' } & CustomCall => call.type === 'custom';

const toolCall = variants(
  { function: FunctionCall, custom: CustomCall },
  { absent: 'function', others: 'pass-through' },
);

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

class Message {
  @Required(choice(ROLES)) role!: (typeof ROLES)[number];
  @Optional(stringOr(listOf(contentPart), 'an array of content parts')) content?: string | ChatPart[] | null;
  @Optional(listOf(toolCall)) tool_calls?: ChatToolCall[] | null;
  @Optional(text({ min: 1 })) tool_call_id?: string | null;
  /** Who speaks; of a result in the legacy form, the function. */
  @Optional(text()) name?: string | null;
  @Optional(text()) refusal?: string | null;
  /** Reasoning of an earlier turn, in the fields of several vendors. */
  @Optional(text()) reasoning_content?: string | null;
  @Optional(text()) reasoning?: string | null;
  @Optional(listOf(jsonObject())) reasoning_details?: JsonObject[] | null;
  /** The legacy form of one call without an id. */
  @Optional(object(CalledFunction)) function_call?: CalledFunction | null;
  /** Speech of an earlier turn, by its id. */
  @Optional(jsonObject()) audio?: JsonObject | null;
}

export type ChatMessage = Message;

/** What a role cannot go without. */
const rolesNeed: FieldCheck = (value, param, report) => {
  if (!isJsonObject(value)) return;
  const need = (field: string): void => {
    if (value[field] == null) report(`${param}.${field}`, 'missing_parameter', `${param}.${field} is required.`);
  };
  // What an assistant said may have been calls, or nothing; so may what a function returned, in words.
  if (value['role'] === 'function') need('name');
  if (value['role'] !== 'assistant' && !(value['role'] === 'function' && value['content'] === null)) need('content');
  if (value['role'] === 'tool') need('tool_call_id');
};

/** A message of the conversation. */
export const chatMessage: FieldCheck = all(object(Message), rolesNeed);
