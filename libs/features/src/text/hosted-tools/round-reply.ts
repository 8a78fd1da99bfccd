import {
  type AssistantPart,
  eventText,
  type FinishEvent,
  GatewayError,
  type ReplyBlock,
  type TextEvent,
} from '#contracts';
import { parsedObject } from '#platform';
import { ReplyCollector } from '../collect-reply.js';
import type { CitedText } from './cited-text.js';
import type { Round } from './loop-metering.js';
import type { OfferedTool } from './offered-tools.js';
import type { HostedCall } from './tool-runner.js';

/** What one round of the model says: text and calls of the caller's functions are passed on, calls of the gateway's tools stay here. */
export class RoundReply {
  readonly #collector = new ReplyCollector();
  readonly #offered: ReadonlyMap<string, OfferedTool>;
  readonly #cited: CitedText;
  readonly #round: Round;
  readonly #isFirst: boolean;
  #isHidden = false;
  #finish: FinishEvent | undefined;
  hasClientCalls = false;

  constructor(parts: {
    readonly offered: ReadonlyMap<string, OfferedTool>;
    readonly cited: CitedText;
    readonly round: Round;
    readonly isFirst: boolean;
  }) {
    this.#offered = parts.offered;
    this.#cited = parts.cited;
    this.#round = parts.round;
    this.#isFirst = parts.isFirst;
  }

  /** The events of a batch that the caller gets. */
  take(batch: readonly TextEvent[]): readonly TextEvent[] {
    return batch.flatMap((event) => this.#take(event));
  }

  /** @throws GatewayError `upstream_error` when the reply broke off before its end. */
  get finish(): FinishEvent {
    if (this.#finish) return this.#finish;
    throw new GatewayError('upstream_error', 'The upstream broke off before its reply was complete.');
  }

  /** The calls of tools that the gateway runs. */
  get hostedCalls(): readonly HostedCall[] {
    return this.#collector.blocks.flatMap((block) => {
      const offered = block.type === 'call' ? this.#offered.get(block.name) : undefined;
      return block.type === 'call' && offered ? [{ id: block.id, offered, arguments: block.arguments }] : [];
    });
  }

  /** The round as a turn of the assistant, for the next one. */
  get parts(): readonly AssistantPart[] {
    return this.#collector.blocks.flatMap((block) => partOf(block));
  }

  #take(event: TextEvent): readonly TextEvent[] {
    this.#collector.add(event);
    this.#round.produced += eventText(event);
    switch (event.type) {
      case 'start':
        return this.#isFirst ? [event] : [];
      case 'text':
        return this.#cited.push(event.text);
      case 'call':
        this.#isHidden = this.#offered.has(event.name);
        this.hasClientCalls ||= !this.#isHidden;
        return this.#isHidden ? this.#cited.end() : [...this.#cited.end(), event];
      case 'arguments':
        return this.#isHidden ? [] : [event];
      case 'finish':
        this.#finish = event;
        return this.#cited.end();
      default:
        return [...this.#cited.end(), event];
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
