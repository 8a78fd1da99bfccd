import type {
  CollectedReply,
  FinishReason,
  GeminiAnswer,
  GeminiFinishReason,
  GeminiReplyPart,
  GeminiUsage,
  ReplyBlock,
  TextUsage,
} from '#contracts';
import { parsedArguments } from '../parsed-arguments.js';

const FINISH_REASON: Partial<Record<FinishReason, GeminiFinishReason>> = {
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
};

export const geminiFinishReason = (reason: FinishReason): GeminiFinishReason => FINISH_REASON[reason] ?? 'STOP';

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

/** A finished block as parts. */
export function replyParts(block: ReplyBlock): GeminiReplyPart[] {
  if (block.type === 'text') return [{ text: block.text }];
  if (block.type === 'call')
    return [{ functionCall: { id: block.id, name: block.name, args: parsedArguments(block.arguments) } }];
  return [{ text: block.text, thought: true, ...(block.signature ? { thoughtSignature: block.signature } : {}) }];
}

/**
 * A whole reply as the native answer. The lists of ratings that D1 2.3 shows are empty: vendors of other protocols rate
 * nothing, and whether one filtered the reply stands in `finishReason`.
 */
export function geminiAnswer(reply: CollectedReply, model: string, responseId: string): GeminiAnswer {
  return {
    candidates: [
      {
        content: { role: 'model', parts: reply.blocks.flatMap(replyParts) },
        finishReason: geminiFinishReason(reply.finish.reason),
        index: 0,
        safetyRatings: [],
      },
    ],
    promptFeedback: { safetyRatings: [] },
    usageMetadata: writeGeminiUsage(reply.finish.usage),
    modelVersion: model,
    responseId,
  };
}
