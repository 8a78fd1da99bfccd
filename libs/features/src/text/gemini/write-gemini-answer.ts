import type {
  Citation,
  CollectedReply,
  FinishReason,
  GeminiAnswer,
  GeminiFinishReason,
  GeminiReplyPart,
  GeminiUsage,
  JsonObject,
  ReplyBlock,
  TextUsage,
  ToolStep,
} from '#contracts';
import { JoinedTexts } from '../reply-parts.js';
import { readableBlocks } from '../tool-arguments.js';
import { carriedProof } from './carried-reasoning.js';

const FINISH_REASON: Partial<Record<FinishReason, GeminiFinishReason>> = {
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  'tool-limit': 'TOO_MANY_TOOL_CALLS',
};

/** @param declines whether the reply is a refusal in words, for which this style has no other sign. */
export const geminiFinishReason = (reason: FinishReason, declines: boolean): GeminiFinishReason =>
  FINISH_REASON[reason] ?? (declines ? 'SAFETY' : 'STOP');

/** Token counts, where reasoning stands beside the output and not inside. */
export function writeGeminiUsage(usage: TextUsage | undefined): GeminiUsage {
  const input = usage?.inputTokens ?? 0;
  const images = usage?.imageInputTokens ?? 0;
  const thoughts = usage?.reasoningTokens ?? 0;
  const output = usage?.outputTokens ?? 0;
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - thoughts,
    totalTokenCount: input + output,
    thoughtsTokenCount: thoughts,
    ...(usage?.cachedInputTokens ? { cachedContentTokenCount: usage.cachedInputTokens } : {}),
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: input - images },
      ...(images > 0 ? [{ modality: 'IMAGE' as const, tokenCount: images }] : []),
    ],
  };
}

/** Blocks as parts. A thought shows its text; its proof stands on the text or call that follows, where clients keep it. */
function replyParts(blocks: readonly ReplyBlock[], grounding: Grounding): GeminiReplyPart[] {
  const parts: GeminiReplyPart[] = [];
  let proven: { text: string; signature: string }[] = [];
  const proof = (): { thoughtSignature?: string } => {
    const thoughtSignature = carriedProof(proven);
    proven = [];
    return thoughtSignature === undefined ? {} : { thoughtSignature };
  };
  const texts = new JoinedTexts();
  for (const block of blocks) {
    if (block.type === 'reasoning') {
      const { text, signature } = block;
      if (text !== '') parts.push({ text, thought: true });
      if (signature !== undefined) proven.push({ text, signature });
    } else if (block.type === 'call') {
      const args = JSON.parse(block.arguments) as JsonObject;
      parts.push({ functionCall: { id: block.id, name: block.name, args }, ...proof() });
    } else if (block.type === 'step') {
      grounding.step(block.step);
      texts.cut();
    } else {
      if (block.isApart) texts.cut();
      const text = texts.add(block.text);
      const gap = text.slice(0, text.length - block.text.length);
      for (const citation of block.citations ?? []) grounding.citation(citation, gap, block.text, parts.length);
      parts.push({ text, ...proof() });
    }
  }
  return proven.length > 0 ? [...parts, { text: '', ...proof() }] : parts;
}

/**
 * A whole reply as the native answer. The lists of safety ratings are empty: vendors of other protocols rate
 * nothing, and whether one filtered the reply is in `finishReason`.
 *
 * @throws GatewayError `upstream_error` for a call whose arguments cannot be read.
 */
export function geminiAnswer({ blocks, finish }: CollectedReply, model: string, responseId: string): GeminiAnswer {
  const declines = blocks.some(({ type }) => type === 'refusal');
  const grounding = new Grounding();
  const parts = replyParts(readableBlocks(blocks, finish.reason), grounding);
  const groundingMetadata = grounding.metadata();
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        finishReason: geminiFinishReason(finish.reason, declines),
        index: 0,
        ...(groundingMetadata && { groundingMetadata }),
        safetyRatings: [],
      },
    ],
    promptFeedback: { safetyRatings: [] },
    usageMetadata: writeGeminiUsage(finish.usage),
    modelVersion: model,
    responseId,
  };
}

/** Collects the sources of an answer, in the form of the gemini style. */
export class Grounding {
  private readonly queries: { web: string[]; files: string[] } = { web: [], files: [] };
  private readonly chunks: JsonObject[] = [];
  private readonly places = new Map<string, number>();
  private readonly supports = new Map<string, { segment: JsonObject; indices: number[] }>();
  /** How far the bytes of a block were counted last: citations come in order, and each would count all before it again. */
  private counted = { block: '', at: 0, bytes: 0 };

  step(step: ToolStep): void {
    if (step.type === 'web_search') this.queries.web.push(step.query);
    if (step.type === 'file_search') this.queries.files.push(step.query);
  }

  /**
   * @param before the text of the part in front of the block that the citation counts in.
   * @param block the text of that block.
   */
  citation({ start, end, text, source }: Citation, before: string, block: string, partIndex: number): void {
    const id = idOf(source);
    const known = this.places.get(id);
    const place = known ?? this.chunks.length;
    if (known === undefined) {
      this.places.set(id, place);
      this.chunks.push(chunkOf(source));
    }
    // The style counts bytes.
    const name = `${partIndex}/${before.length}`;
    const startIndex = this.bytesTo(start, name, before, block);
    const endIndex = this.bytesTo(end, name, before, block);
    const stretch = `${partIndex}/${startIndex}/${endIndex}`;
    const support = this.supports.get(stretch);
    if (support) support.indices.push(place);
    else this.supports.set(stretch, { segment: { partIndex, startIndex, endIndex, text }, indices: [place] });
  }

  private bytesTo(at: number, name: string, before: string, block: string): number {
    if (this.counted.block !== name) this.counted = { block: name, at: 0, bytes: Buffer.byteLength(before) };
    const { at: from, bytes } = this.counted;
    const [low, high] = from <= at ? [from, at] : [at, from];
    const between = Buffer.byteLength(block.slice(low, high));
    this.counted = { block: name, at, bytes: from <= at ? bytes + between : bytes - between };
    return this.counted.bytes;
  }

  /** Undefined where nothing was searched and nothing is cited. */
  metadata(): JsonObject | undefined {
    const { web, files } = this.queries;
    if (web.length === 0 && files.length === 0 && this.chunks.length === 0) return undefined;
    return {
      ...(web.length > 0 && { webSearchQueries: web }),
      ...(files.length > 0 && { retrievalQueries: files }),
      groundingChunks: this.chunks,
      groundingSupports: [...this.supports.values()].map(({ segment, indices }) => ({
        segment,
        groundingChunkIndices: indices,
      })),
    };
  }
}

const idOf = (source: Citation['source']): string =>
  source.kind === 'page' ? source.page.url : `${source.passage.fileId}/${source.passage.start}`;

function chunkOf(source: Citation['source']): JsonObject {
  if (source.kind === 'page') {
    const { url, title } = source.page;
    return { web: { uri: url, title, domain: new URL(url).hostname } };
  }
  const { fileId, filename, text, start, end } = source.passage;
  return { retrievedContext: { uri: fileId, title: filename, text, passage: { start, end } } };
}
