import type { AssistantPart, TextUsage, Turn, UserPart } from '#contracts';
import type { ModelLimits } from '#providers';
import { BYTES_PER_TOKEN } from '../estimate-tokens.js';
import type { OfferedTool } from './offered-tools.js';

/** About how much the next round reads. */
export interface LoopInput {
  /** What there is of usual text, for the hold. */
  readonly tokens: number;
  /** What there is where each byte of text is a token. */
  readonly most: number;
  /** True: there are files or references, whose tokens only an upstream can count. */
  readonly hasFiles: boolean;
}

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** The first round reads what the tools are besides the request. */
export function firstInput(input: LoopInput, offered: readonly OfferedTool[]): LoopInput {
  const text = JSON.stringify(offered.map(({ tool }) => tool));
  return { ...input, tokens: input.tokens + tokensOf(text), most: input.most + Buffer.byteLength(text) };
}

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
  const [read, mostRead] = used
    ? [used.inputTokens + used.outputTokens, used.inputTokens + used.outputTokens]
    : [before.tokens, before.most];
  const parts = turns.flatMap((turn): readonly (UserPart | AssistantPart)[] => turn.parts);
  const added = parts.reduce((sum, part) => sum + tokensOfPart(part, imageTokens, tokensOf), 0);
  const mostAdded = parts.reduce(
    (sum, part) => sum + tokensOfPart(part, imageTokens, (text) => Buffer.byteLength(text)),
    0,
  );
  return { tokens: read + added, most: mostRead + mostAdded, hasFiles: before.hasFiles };
}

function tokensOfPart(part: UserPart | AssistantPart, imageTokens: number, tokensIn: (text: string) => number): number {
  if (part.type === 'result')
    return part.content.reduce((sum, each) => sum + (each.type === 'text' ? tokensIn(each.text) : imageTokens), 8);
  return part.type === 'call' ? tokensIn(part.arguments) + 8 : 8;
}
