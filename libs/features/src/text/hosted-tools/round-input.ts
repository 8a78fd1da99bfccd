import type { AssistantPart, TextUsage, Turn, UserPart } from '#contracts';
import type { ModelLimits } from '#providers';
import type { OfferedTool } from './offered-tools.js';

/** About how much the next round reads. */
export interface LoopInput {
  /** The most there may be, for the hold. */
  readonly tokens: number;
  /** True: there are files or references, whose tokens only an upstream can count. */
  readonly hasFiles: boolean;
}

/** Bytes of text a token has at least on average; low, so that a hold is rarely too small. */
const BYTES_PER_TOKEN = 3;

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** The first round reads what the tools are besides the request. */
export const firstInput = (input: LoopInput, offered: readonly OfferedTool[]): LoopInput => ({
  ...input,
  tokens: input.tokens + tokensOf(JSON.stringify(offered.map(({ tool }) => tool))),
});

/**
 * What a round reads: all that the one before read and wrote, as its upstream sent it, and what was added.
 *
 * @param used by the round before; undefined: none was.
 */
export function nextInput(
  before: LoopInput,
  used: TextUsage | undefined,
  turns: readonly Turn[],
  { imageTokens }: ModelLimits,
): LoopInput {
  const read = used ? used.inputTokens + used.outputTokens : before.tokens;
  const parts = turns.flatMap((turn): readonly (UserPart | AssistantPart)[] => turn.parts);
  const added = parts.reduce((sum, part) => sum + tokensOfPart(part, imageTokens), 0);
  return { tokens: read + added, hasFiles: before.hasFiles };
}

function tokensOfPart(part: UserPart | AssistantPart, imageTokens: number): number {
  if (part.type === 'result')
    return part.content.reduce((sum, each) => sum + (each.type === 'text' ? tokensOf(each.text) : imageTokens), 8);
  return part.type === 'call' ? tokensOf(part.arguments) + 8 : 8;
}
