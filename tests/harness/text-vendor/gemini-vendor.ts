import { createHash } from 'node:crypto';
import { callsOf, pieces, VENDOR_USAGE, type VendorRequest, type VendorScript } from './vendor-script.js';

interface Part {
  readonly text?: string;
  readonly inlineData?: object;
  readonly fileData?: object;
  readonly functionResponse?: { readonly response?: object };
}

interface GeminiBody {
  readonly continuationToken?: string;
  readonly contents: readonly { readonly role?: string; readonly parts: readonly Part[] }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  readonly toolConfig?: { readonly functionCallingConfig?: { readonly mode?: string } };
  readonly generationConfig?: {
    readonly responseMimeType?: string;
    readonly maxOutputTokens?: number;
    readonly thinkingConfig?: { readonly includeThoughts?: boolean };
  };
}

export function readGemini(body: GeminiBody, stream: boolean): VendorRequest {
  const users = body.contents.filter(({ role }) => role !== 'model');
  const parts = users.flatMap((content) => content.parts);
  const last = users.at(-1)?.parts ?? [];
  const results = last.flatMap(({ functionResponse }) => functionResponse?.response ?? []);
  return {
    text: parts.findLast(({ text }) => text !== undefined)?.text ?? '',
    images: parts.filter(({ inlineData, fileData }) => inlineData ?? fileData).length,
    toolNames: (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
    result: results.length > 0 ? results.map((result) => JSON.stringify(result)).join('') : undefined,
    mustCall: body.toolConfig?.functionCallingConfig?.mode === 'ANY',
    stream,
    ...optionsOf(body.generationConfig ?? {}),
  };
}

const optionsOf = (
  config: NonNullable<GeminiBody['generationConfig']>,
): Pick<VendorRequest, 'thinks' | 'json' | 'maxTokens'> => ({
  thinks: config.thinkingConfig?.includeThoughts ?? false,
  json: config.responseMimeType === 'application/json',
  maxTokens: config.maxOutputTokens,
});

/** The usage of the request that asks for a reply to go on for so manieth time, 0 for the first: it reads what was written until then. */
const usageOf = (turn: number) => ({
  promptTokenCount: VENDOR_USAGE.input + turn * VENDOR_USAGE.output,
  cachedContentTokenCount: VENDOR_USAGE.cached,
  candidatesTokenCount: VENDOR_USAGE.output - VENDOR_USAGE.reasoning,
  thoughtsTokenCount: VENDOR_USAGE.reasoning,
  totalTokenCount: VENDOR_USAGE.input + (turn + 1) * VENDOR_USAGE.output,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: VENDOR_USAGE.input + turn * VENDOR_USAGE.output }],
});
const IDENTITY = { modelVersion: 'vendor-gemini', responseId: 'r1' };

/** Of several calls the first carries the proof, as at the vendor. */
function partsOf(script: VendorScript, inPieces: boolean): object[] {
  const { reasoning, text, call } = script;
  const cut = (whole: string): string[] => (inPieces ? pieces(whole) : [whole]);
  return [
    ...(reasoning === undefined ? [] : cut(reasoning).map((piece) => ({ text: piece, thought: true }))),
    ...(call
      ? callsOf(script).map(({ name, args }, index) => ({
          functionCall: { name, args },
          ...(index === 0 && { thoughtSignature: 'proof' }),
        }))
      : cut(text).map((piece) => ({ text: piece }))),
  ];
}

/** Names which part of a reply comes next, and the very request that it is of. */
const tokenOf = (turn: number, body: GeminiBody): string => {
  const { continuationToken: _token, ...request } = body;
  return `go-on-${turn}-${createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 16)}`;
};

const turnOf = ({ continuationToken: token }: GeminiBody): number =>
  Number(/^go-on-(\d+)-/.exec(token ?? '')?.[1] ?? 0);

/** The sentence that refuses a token which this vendor gave for another request. */
export const brokenContinuation = (body: GeminiBody): string | undefined =>
  turnOf(body) > 0 && body.continuationToken !== tokenOf(turnOf(body), body)
    ? 'continuation_token does not match the request.'
    : undefined;

/** What the vendor says of a long reply now, and how that ends. */
function partOf(script: VendorScript, body: GeminiBody) {
  const { continued = [], isCut } = script;
  const turn = turnOf(body);
  const said =
    turn === 0 ? script : { ...script, reasoning: undefined, call: undefined, text: continued[turn - 1] ?? '' };
  const goesOn = turn < continued.length;
  const end = goesOn
    ? { finishReason: 'CONTINUATION', continuationToken: tokenOf(turn + 1, body) }
    : { finishReason: isCut ? 'MAX_TOKENS' : 'STOP' };
  return { said, end, usageMetadata: usageOf(turn) };
}

export function wholeGemini(script: VendorScript, body: GeminiBody = { contents: [] }): object {
  const { said, end, usageMetadata } = partOf(script, body);
  const content = { role: 'model', parts: partsOf(said, false) };
  return { candidates: [{ content, ...end, index: 0 }], usageMetadata, ...IDENTITY };
}

export function streamGemini(script: VendorScript, body: GeminiBody): string[] {
  const { said, end, usageMetadata } = partOf(script, body);
  const chunk = (parts: readonly object[], more: object = {}, top: object = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...more, index: 0 }], ...top, ...IDENTITY })}\r\n\r\n`;
  return [
    ...partsOf(said, true).map((part) =>
      chunk([part], {}, { usageMetadata: { promptTokenCount: usageMetadata.promptTokenCount } }),
    ),
    chunk([{ text: '' }], end, { usageMetadata }),
  ];
}
