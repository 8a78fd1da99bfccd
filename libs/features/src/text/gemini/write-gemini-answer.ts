import type {
  CollectedReply,
  FinishReason,
  GeminiAnswer,
  GeminiFinishReason,
  GeminiReplyPart,
  GeminiUsage,
  JsonObject,
  ReplyBlock,
  TextUsage,
} from '#contracts';
import { Grounding } from '../hosted-tools/gemini-grounding.js';
import { readableBlocks } from '../tool-arguments.js';
import { JoinedTexts } from '../reply-parts.js';
import { carriedProof } from './carried-reasoning.js';

const FINISH_REASON: Partial<Record<FinishReason, GeminiFinishReason>> = {
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  'tool-limit': 'TOO_MANY_TOOL_CALLS',
};

/** @param declines whether the reply is a refusal in words, for which this style has no other sign. */
export const geminiFinishReason = (reason: FinishReason, declines: boolean): GeminiFinishReason =>
  FINISH_REASON[reason] ?? (declines ? 'SAFETY' : 'STOP');

/** Token counts of D1 2.3, where reasoning stands beside the output and not inside. */
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
 * A whole reply as the native answer. The lists of ratings that D1 2.3 shows are empty: vendors of other protocols rate
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
