import {
  GatewayError,
  type FinishReason,
  type LastPart,
  isJsonObject,
  type JsonObject,
  serviceTierOf,
  type TextEvent,
  type TextUsage,
} from '#contracts';
import { brokenOff, parseReply } from '../upstream/codec-failures.js';
import { ContinuedReply, isCounted } from '../upstream/continued-reply.js';
import {
  besideIn,
  countOf,
  laterUsage,
  reportedUsage,
  sumOf,
  withTier,
  withUnits,
} from '../upstream/reported-usage.js';
import { newCallId } from '../upstream/request-fields.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import { reportedFailure } from '../upstream/refused-by-upstream.js';
import { DONE, type EventData } from '../upstream/server-sent-events.js';
import { markSignature } from '../upstream/signatures.js';
import { GroundedText, type GroundingMetadata } from './grounded-text.js';

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: JsonObject | null };
  readonly executableCode?: { readonly code?: string };
  readonly codeExecutionResult?: object;
  readonly inlineData?: { readonly mimeType?: string; readonly data?: string };
}

interface Candidate {
  readonly content?: { readonly parts?: readonly Part[] };
  readonly finishReason?: string;
  readonly groundingMetadata?: GroundingMetadata | null;
  readonly continuationToken?: unknown;
}

interface Chunk {
  readonly error?: unknown;
  readonly candidates?: readonly Candidate[];
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly usageMetadata?: {
    readonly promptTokenCount?: number;
    readonly toolUsePromptTokenCount?: number;
    readonly cachedContentTokenCount?: number;
    readonly candidatesTokenCount?: number;
    readonly thoughtsTokenCount?: number;
    readonly totalTokenCount?: number;
    /** Lists of `{modality, tokenCount}`. */
    readonly promptTokensDetails?: unknown;
    readonly toolUsePromptTokensDetails?: unknown;
    readonly candidatesTokensDetails?: unknown;
    /** The tier that served it, and where the cloud of the vendor says that. */
    readonly serviceTier?: unknown;
    readonly trafficType?: unknown;
  };
}

const FINISH_REASONS: Record<string, FinishReason> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
  LANGUAGE: 'content-filter',
  IMAGE_OTHER: 'content-filter',
  NO_IMAGE: 'stop',
  // The most of one request is reached, and the reply is not over: what is said so far is never a whole one.
  CONTINUATION: 'length',
};

/** Calls that the vendor itself could not read or did not expect. */
const BROKEN_CALLS = /^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MALFORMED_RESPONSE)$/;

/** The tokens of one modality, in whatever letters it is written. */
function tokensOf(modality: string, details: unknown): number {
  if (!Array.isArray(details)) return 0;
  const told = (details as readonly unknown[]).filter(isJsonObject);
  const ofIt = told.filter((detail) => String(detail['modality']).toUpperCase() === modality);
  return ofIt.reduce((sum, detail) => sum + countOf(detail['tokenCount']), 0);
}

/** Output here leaves thoughts out, ours holds them. Words that are not counted are what the total says beside the rest. */
function readUsage(usage: NonNullable<Chunk['usageMetadata']>): TextUsage | undefined {
  const thoughts = usage.thoughtsTokenCount ?? 0;
  const input =
    usage.promptTokenCount == null
      ? besideIn(usage.totalTokenCount, sumOf(usage.candidatesTokenCount, thoughts))
      : sumOf(usage.promptTokenCount, usage.toolUsePromptTokenCount ?? 0);
  const beside = sumOf(usage.totalTokenCount) - sumOf(input ?? usage.toolUsePromptTokenCount ?? 0, thoughts);
  const { promptTokensDetails: read, toolUsePromptTokensDetails: fetched, candidatesTokensDetails: written } = usage;
  const units = {
    audio_input_token: tokensOf('AUDIO', read) + tokensOf('AUDIO', fetched),
    audio_output_token: tokensOf('AUDIO', written),
    image_output_token: tokensOf('IMAGE', written),
  };
  const tokens = {
    inputTokens: input,
    cachedInputTokens: usage.cachedContentTokenCount ?? 0,
    cacheWriteTokens: 0,
    imageInputTokens: tokensOf('IMAGE', read) + tokensOf('IMAGE', fetched),
    outputTokens: sumOf(usage.candidatesTokenCount ?? (beside > 0 ? beside : 0), thoughts),
    reasoningTokens: thoughts,
  };
  const reported = reportedUsage(tokens, units);
  return reported && withTier(reported, serviceTierOf(usage.serviceTier ?? usage.trafficType));
}

/** Searches of the vendor that a text rests on; each costs a fee of its own. Where no number is said it is one. */
function searchesIn({ groundingMetadata: grounding }: Candidate): number {
  const { webSearchQueries: queries, groundingChunks: chunks, searchEntryPoint: shown } = grounding ?? {};
  if (Array.isArray(queries) && queries.length > 0) return queries.length;
  return shown || (Array.isArray(chunks) && chunks.some((chunk) => isJsonObject(chunk) && 'web' in chunk)) ? 1 : 0;
}

/** What the other styles do not show; it stands between two texts. */
const isUnshown = (part: Part): boolean => Boolean(part.executableCode ?? part.codeExecutionResult);

function readPart(part: Part): TextEvent[] {
  const proof: TextEvent[] = part.thoughtSignature
    ? [{ type: 'signature', signature: markSignature('gemini', part.thoughtSignature) }]
    : [];
  if (part.functionCall) {
    const { id, name = '', args } = part.functionCall;
    const callId = id || newCallId();
    return [...proof, { type: 'call', id: callId, name }, { type: 'arguments', json: JSON.stringify(args ?? {}) }];
  }
  if (part.inlineData) {
    // The other styles have no image in a reply; as a Markdown image it is at least not lost.
    const { mimeType = 'image/png', data = '' } = part.inlineData;
    return [...proof, { type: 'text', text: `![image](data:${mimeType};base64,${data})` }];
  }
  if (!part.text) return isUnshown(part) ? [...proof, { type: 'break' }] : proof;
  return part.thought
    ? [{ type: 'reasoning', text: part.text }, ...proof]
    : [...proof, { type: 'text', text: part.text }];
}

export class GeminiStreamDecoder implements StreamDecoder {
  private called = false;
  private said = false;
  private reason: FinishReason | undefined;
  private usage: TextUsage | undefined;
  private searches = 0;
  private token: string | undefined;
  private readonly parts = new ContinuedReply();
  private readonly grounded = new GroundedText();

  push(data: EventData): readonly TextEvent[] {
    if (data !== DONE) return this.read(parseReply(data));
    this.over();
    return [];
  }

  /** Reads one chunk, or a whole reply, which has the same shape. */
  read(chunk: JsonObject & Chunk): readonly TextEvent[] {
    if (chunk.error) throw reportedFailure(chunk.error);
    if (chunk.usageMetadata) this.usage = laterUsage(this.usage, readUsage(chunk.usageMetadata));
    if (chunk.promptFeedback?.blockReason) this.reason = 'content-filter';
    return this.readCandidate(chunk.candidates?.[0] ?? {});
  }

  /** Its vendor says that the reply is over: some never name a reason. */
  over(): void {
    if (this.said) this.reason ??= 'stop';
  }

  end(): readonly TextEvent[] {
    if (this.reason === undefined) throw brokenOff();
    const reason = this.reason === 'stop' && this.called ? 'tool-calls' : this.reason;
    const usage = this.reportedUsage();
    return [...this.grounded.citations(), { type: 'finish', reason, ...(usage ? { usage } : {}) }];
  }

  reportedUsage(): TextUsage | undefined {
    return this.parts.usageWith(this.usageOfPart());
  }

  continuation(body: JsonObject): JsonObject | undefined {
    return this.token === undefined || !isCounted(this.usage) ? undefined : { ...body, continuationToken: this.token };
  }

  lastPart(): LastPart | undefined {
    return this.parts.lastPart(this.usage);
  }

  nextPart(): void {
    this.parts.next(this.usageOfPart());
    this.usage = undefined;
    this.searches = 0;
    this.reason = undefined;
    this.token = undefined;
    this.grounded.nextPart();
  }

  private usageOfPart(): TextUsage | undefined {
    return (
      this.usage && withUnits(this.usage, this.searches > 0 ? { vendor_web_search_call: this.searches } : undefined)
    );
  }

  private readCandidate(candidate: Candidate): TextEvent[] {
    const { content, finishReason } = candidate;
    this.searches = Math.max(this.searches, searchesIn(candidate));
    const events: TextEvent[] = [];
    const partStarts: number[] = [];
    for (const part of content?.parts ?? []) {
      partStarts.push(this.grounded.length);
      const shown = readPart(part).filter((event) => this.isShown(event));
      for (const event of shown) this.grounded.add(event);
      this.parts.note(shown);
      events.push(...shown);
    }
    if (candidate.groundingMetadata) this.grounded.note(candidate.groundingMetadata, partStarts);
    if (finishReason) this.reason = this.readReason(finishReason);
    if (finishReason === 'CONTINUATION' && typeof candidate.continuationToken === 'string')
      this.token = candidate.continuationToken;
    return events;
  }

  /** Takes note of what has been said; nothing is to be kept apart from nothing. */
  private isShown({ type }: TextEvent): boolean {
    this.called ||= type === 'call';
    this.said ||= type === 'call' || type === 'text';
    return type !== 'break' || this.said;
  }

  private readReason(sent: string): FinishReason {
    if (BROKEN_CALLS.test(sent))
      throw new GatewayError('upstream_error', 'The model wrote a function call that cannot be read.', {
        log: `finish reason ${sent}`,
      });
    const reason = FINISH_REASONS[sent];
    if (reason) return reason;
    // A reason that the vendor does not name; those of tomorrow are taken for an end.
    if (this.said) return sent === 'OTHER' ? 'content-filter' : 'stop';
    throw new GatewayError('upstream_error', 'The upstream ended its reply before the first word.', {
      isByModel: true,
      log: `finish reason ${sent}`,
    });
  }
}

/** What one chunk says, in whatever part: also of parts and candidates that the other styles do not have. */
export function producedInGemini({ candidates }: JsonObject & Chunk): string {
  return (candidates ?? [])
    .flatMap(({ content }) => content?.parts ?? [])
    .map(({ text = '', functionCall, executableCode }) => {
      const called = functionCall ? JSON.stringify(functionCall.args ?? {}) : '';
      return text + called + (executableCode?.code ?? '');
    })
    .join('');
}

export const readGeminiReply = (answer: JsonObject): readonly TextEvent[] => readGeminiChunks([answer]);

/** The chunks of a whole reply. */
export function readGeminiChunks(chunks: readonly JsonObject[]): readonly TextEvent[] {
  const decoder = new GeminiStreamDecoder();
  const events = chunks.flatMap((chunk) => decoder.read(chunk));
  decoder.over();
  return [...events, ...decoder.end()];
}
