import type { AssistantPart, GeminiContent, GeminiPart, MediaSource, ReasoningPart, UserPart } from '#contracts';
import { cannotTranslate } from '../refusals.js';
import { newTextId } from '../text-id.js';
import type { TurnList } from '../turn-list.js';

/** Adds one content to the conversation. Clients send one model content per streamed chunk, so neighbours are merged. */
export function readGeminiContent(content: GeminiContent, param: string, turns: TurnList): void {
  const userParts: UserPart[] = [];
  const flush = (): void => turns.user(userParts.splice(0));
  content.parts.forEach((part, index) => {
    const place = `${param}.parts[${index}]`;
    if (content.role === 'model') return turns.assistant(readModelPart(part, place));
    if (!part.functionResponse) {
      userParts.push(readUserPart(part, place));
      return;
    }
    flush();
    readFunctionResponse(part.functionResponse, place, turns);
  });
  flush();
}

function readFunctionResponse(
  { id, name, response }: NonNullable<GeminiPart['functionResponse']>,
  param: string,
  turns: TurnList,
): void {
  // Ids are optional in this style: without one the oldest open call of that name is meant.
  const callId = id ?? turns.unansweredCalls(name)[0] ?? '';
  const text = JSON.stringify(response ?? {});
  const isError = response !== undefined && Object.keys(response).length === 1 && 'error' in response;
  turns.result({ callId, content: [{ type: 'text', text }], isError }, `${param}.functionResponse`);
}

function readModelPart(part: GeminiPart, param: string): AssistantPart[] {
  const signature = part.thoughtSignature;
  const proof: ReasoningPart[] = signature === undefined ? [] : [{ type: 'reasoning', text: '', signature }];
  if (part.functionCall) {
    const { id, name, args } = part.functionCall;
    return [...proof, { type: 'call', id: id ?? newTextId('call_'), name, arguments: JSON.stringify(args ?? {}) }];
  }
  if (part.thought) {
    const text = part.text ?? '';
    return text === '' ? proof : [{ type: 'reasoning', text, ...(signature === undefined ? {} : { signature }) }];
  }
  if (part.text !== undefined) return part.text === '' ? proof : [...proof, { type: 'text', text: part.text }];
  if (proof.length > 0) return proof;
  throw cannotTranslate(param, 'this kind of part in a model turn');
}

function readUserPart(part: GeminiPart, param: string): UserPart {
  if (part.inlineData) {
    const { mimeType, data } = part.inlineData;
    return mediaPart({ kind: 'inline', mediaType: mimeType, base64: data }, mimeType, `${param}.inlineData`);
  }
  if (part.fileData) {
    const { mimeType = 'image/*', fileUri } = part.fileData;
    if (!/^https?:/i.test(fileUri)) throw cannotTranslate(`${param}.fileData.fileUri`, 'an uploaded file');
    return mediaPart({ kind: 'url', url: fileUri }, mimeType, `${param}.fileData`);
  }
  if (part.text !== undefined) return { type: 'text', text: part.text };
  throw cannotTranslate(param, 'this kind of part in a user turn');
}

function mediaPart(source: MediaSource, mediaType: string, param: string): UserPart {
  if (mediaType.startsWith('image/')) return { type: 'image', source };
  if (mediaType === 'application/pdf') return { type: 'file', source };
  throw cannotTranslate(`${param}.mimeType`, `"${mediaType}"`);
}
