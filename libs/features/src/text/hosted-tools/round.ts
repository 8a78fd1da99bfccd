import {
  type AssistantPart,
  eventText,
  type FinishEvent,
  GatewayError,
  type ReplyBlock,
  type TextEvent,
  type TextUsage,
  type Turn,
  type UserPart,
} from '#contracts';
import { parsedObject } from '#platform';
import type { ModelLimits } from '#providers';
import { ReplyCollector } from '../collect-reply.js';
import { tokensHeldFor } from '../estimate-tokens.js';
import type { CitedText } from './cited-text.js';
import type { Round } from './loop-metering.js';
import type { OfferedTool } from './offered-tools.js';
import type { HostedCall } from './tool-runner.js';

/** About how much the next round reads. */
export interface LoopInput {
  /** What there is of usual text, for the hold. */
  readonly tokens: number;
  /** What there is where each byte of text is a token. */
  readonly most: number;
  /** True: there are files or references, whose tokens only an upstream can count. */
  readonly hasFiles: boolean;
}

/** The first round reads what the tools are besides the request. */
export function firstInput(input: LoopInput, offered: readonly OfferedTool[]): LoopInput {
  const text = JSON.stringify(offered.map(({ tool }) => tool));
  return { ...input, tokens: input.tokens + tokensHeldFor(text), most: input.most + Buffer.byteLength(text) };
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
  const added = parts.reduce((sum, part) => sum + tokensOfPart(part, imageTokens, tokensHeldFor), 0);
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

/** What one round of the model says: text and calls of the caller's functions are passed on, calls of the gateway's tools stay here. */
export class RoundReply {
  private readonly collector = new ReplyCollector();
  private readonly offered: ReadonlyMap<string, OfferedTool>;
  private readonly cited: CitedText;
  private readonly round: Round;
  private readonly isFirst: boolean;
  private isHidden = false;
  private finishEvent: FinishEvent | undefined;
  hasClientCalls = false;

  constructor(parts: {
    readonly offered: ReadonlyMap<string, OfferedTool>;
    readonly cited: CitedText;
    readonly round: Round;
    readonly isFirst: boolean;
  }) {
    this.offered = parts.offered;
    this.cited = parts.cited;
    this.round = parts.round;
    this.isFirst = parts.isFirst;
  }

  /** The events of a batch that the caller gets. */
  take(batch: readonly TextEvent[]): readonly TextEvent[] {
    return batch.flatMap((event) => this.takeEvent(event));
  }

  /** @throws GatewayError `upstream_error` when the reply broke off before its end. */
  get finish(): FinishEvent {
    if (this.finishEvent) return this.finishEvent;
    throw new GatewayError('upstream_error', 'The upstream broke off before its reply was complete.');
  }

  /** The calls of tools that the gateway runs. */
  get hostedCalls(): readonly HostedCall[] {
    return this.collector.blocks.flatMap((block) => {
      const offered = block.type === 'call' ? this.offered.get(block.name) : undefined;
      return block.type === 'call' && offered ? [{ id: block.id, offered, arguments: block.arguments }] : [];
    });
  }

  /** The round as a turn of the assistant, for the next one. */
  get parts(): readonly AssistantPart[] {
    return this.collector.blocks.flatMap((block) => partOf(block));
  }

  private takeEvent(event: TextEvent): readonly TextEvent[] {
    this.collector.add(event);
    this.round.produced += eventText(event);
    switch (event.type) {
      case 'start':
        return this.isFirst ? [event] : [];
      case 'text':
        return this.cited.push(event.text);
      case 'call':
        this.isHidden = this.offered.has(event.name);
        this.hasClientCalls ||= !this.isHidden;
        return this.isHidden ? this.cited.end() : [...this.cited.end(), event];
      case 'arguments':
        return this.isHidden ? [] : [event];
      case 'finish':
        this.finishEvent = event;
        return this.cited.end();
      default:
        return [...this.cited.end(), event];
    }
  }
}

function partOf(block: ReplyBlock): AssistantPart[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }];
    case 'call':
      return [{ type: 'call', id: block.id, name: block.name, arguments: readable(block.arguments) }];
    case 'reasoning': {
      const { text, signature } = block;
      return [{ type: 'reasoning', text, ...(signature !== undefined && { signature }) }];
    }
    default:
      return [];
  }
}

/** A vendor would refuse a history whose arguments are no object; what the model wrote instead was refused already. */
const readable = (json: string): string => (parsedObject(json) ? json : '{}');
