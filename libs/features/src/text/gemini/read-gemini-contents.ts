import type {
  AssistantPart,
  FilePart,
  GeminiContent,
  GeminiPart,
  ImagePart,
  JsonObject,
  MediaSource,
  ReasoningPart,
  UserPart,
} from '#contracts';
import { carriedReasoning } from './carried-reasoning.js';
import { inlineMedia } from '../request-parts.js';
import { cannotTranslate } from '../refusals.js';
import type { TurnList } from '../turn-list.js';

/** Adds one content to the conversation. Clients send one model content per streamed chunk, so neighbours are merged. */
export function readGeminiContent(content: GeminiContent, param: string, turns: TurnList): void {
  const userParts: UserPart[] = [];
  const flush = (): void => turns.user(userParts.splice(0));
  content.parts.forEach((part, index) => {
    const place = `${param}.parts[${index}]`;
    expectOneContent(part, place);
    if (content.role === 'model') return turns.assistant(readModelPart(part, place, turns));
    if (!part.functionResponse) {
      userParts.push(readUserPart(part, place));
      return;
    }
    flush();
    readFunctionResponse(part.functionResponse, place, turns);
  });
  flush();
}

/** What a part may hold that other interfaces have words for, one at a time. */
const CONTENTS = ['inlineData', 'fileData', 'functionCall', 'functionResponse'] as const;

/** @throws GatewayError `unsupported_parameter` for a part that holds several things, of which one would be lost. */
export function expectOneContent(part: GeminiPart, param: string): void {
  const held = [...CONTENTS.filter((name) => part[name] !== undefined), ...(part.text ? ['text'] : [])];
  if (held.length > 1) throw cannotTranslate(param, `a part that holds ${held.join(' and ')}`);
}

function readFunctionResponse(
  { id, name, response, parts = [] }: NonNullable<GeminiPart['functionResponse']>,
  param: string,
  turns: TurnList,
): void {
  const isError = response !== undefined && Object.keys(response).length === 1 && 'error' in response;
  const media = parts.map((part, index) => readUserPart(part, `${param}.functionResponse.parts[${index}]`));
  turns.result(
    { callId: id ?? '', name, content: [{ type: 'text', text: returnedText(turns, response) }, ...media], isError },
    `${param}.functionResponse`,
  );
}

/** What a function returned. A text that stands alone in the field for it is said as it is, and not as JSON. */
function returnedText(turns: TurnList, response: JsonObject = {}): string {
  const [[name, value] = [], ...others] = Object.entries(response);
  const isText = others.length === 0 && (name === 'output' || name === 'error') && typeof value === 'string';
  return isText ? value : turns.arguments.written(response);
}

function readModelPart(part: GeminiPart, param: string, turns: TurnList): AssistantPart[] {
  const signature = part.thoughtSignature;
  const proof: ReasoningPart[] = signature === undefined ? [] : carriedReasoning(signature, turns.texts);
  if (part.functionCall) {
    const { id, name, args } = part.functionCall;
    return [
      ...proof,
      { type: 'call', id: id ?? turns.nextCallId(), name, arguments: turns.arguments.written(args ?? {}) },
    ];
  }
  if (part.thought) {
    const text = part.text ?? '';
    return text === '' ? proof : [{ type: 'reasoning', text, ...(signature === undefined ? {} : { signature }) }];
  }
  if (part.text !== undefined) return part.text === '' ? proof : [...proof, { type: 'text', text: part.text }];
  if (proof.length > 0) return proof;
  throw cannotTranslate(param, 'this kind of part in a model turn');
}

/** Endings of addresses that show the type of the file. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  pdf: 'application/pdf',
};

function mediaTypeOf(url: string): string | undefined {
  const ending = /\.([a-z]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending] : undefined;
}

function readUserPart(part: GeminiPart, param: string): Exclude<UserPart, { type: 'result' }> {
  if (part.videoMetadata) throw cannotTranslate(`${param}.videoMetadata`, 'a section of a video');
  if (part.inlineData) {
    const { mimeType, data } = part.inlineData;
    return mediaPart(inlineMedia(mimeType, data), mimeType, `${param}.inlineData`);
  }
  if (part.fileData) {
    const { fileUri } = part.fileData;
    const mimeType = part.fileData.mimeType ?? mediaTypeOf(fileUri);
    if (!/^https?:/i.test(fileUri)) throw cannotTranslate(`${param}.fileData.fileUri`, 'an uploaded file');
    if (mimeType === undefined) throw cannotTranslate(`${param}.fileData`, 'a link without a media type');
    return mediaPart({ kind: 'url', url: fileUri }, mimeType, `${param}.fileData`);
  }
  if (part.text !== undefined) return { type: 'text', text: part.text };
  throw cannotTranslate(param, 'this kind of part in a user turn');
}

function mediaPart(source: MediaSource, mediaType: string, param: string): ImagePart | FilePart {
  if (mediaType.startsWith('image/')) return { type: 'image', source, param };
  if (mediaType === 'application/pdf' || (mediaType.startsWith('text/') && source.kind === 'inline'))
    return { type: 'file', source, param };
  throw cannotTranslate(`${param}.mimeType`, `"${mediaType}"`);
}
