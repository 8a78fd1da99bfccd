import { callsOf, pieces, VENDOR_USAGE, type VendorRequest, type VendorScript } from './vendor-script.js';

interface Part {
  readonly text?: string;
  readonly inlineData?: object;
  readonly fileData?: object;
  readonly functionResponse?: { readonly response?: object };
}

interface GeminiBody {
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

const usageMetadata = {
  promptTokenCount: VENDOR_USAGE.input,
  cachedContentTokenCount: VENDOR_USAGE.cached,
  candidatesTokenCount: VENDOR_USAGE.output - VENDOR_USAGE.reasoning,
  thoughtsTokenCount: VENDOR_USAGE.reasoning,
  totalTokenCount: VENDOR_USAGE.input + VENDOR_USAGE.output,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: VENDOR_USAGE.input }],
};
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

const finishOf = ({ isCut }: VendorScript): string => (isCut ? 'MAX_TOKENS' : 'STOP');

export function wholeGemini(script: VendorScript): object {
  const content = { role: 'model', parts: partsOf(script, false) };
  return { candidates: [{ content, finishReason: finishOf(script), index: 0 }], usageMetadata, ...IDENTITY };
}

export function streamGemini(script: VendorScript): string[] {
  const chunk = (parts: readonly object[], more: object = {}, top: object = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...more, index: 0 }], ...top, ...IDENTITY })}\r\n\r\n`;
  return [
    ...partsOf(script, true).map((part) =>
      chunk([part], {}, { usageMetadata: { promptTokenCount: VENDOR_USAGE.input } }),
    ),
    chunk([{ text: '' }], { finishReason: finishOf(script) }, { usageMetadata }),
  ];
}
