import type { TextEvent } from '#contracts';
import { brokenOff } from '../upstream/codec-failures.js';
import { newCallId } from '../upstream/new-call-id.js';

/** A piece of a call, or a whole one. */
export interface ChatToolCall {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
}

interface OpenCall {
  readonly key: number;
  readonly id: string;
  readonly name: string;
  json: string;
}

/**
 * The calls of one reply. They may interleave in this protocol and may not in ours, so the first call streams and the
 * others are held back until the reply is over.
 */
export class ChatCalls {
  readonly #calls: OpenCall[] = [];
  #firstIsOpen = false;

  /** True once the model has called anything. */
  get some(): boolean {
    return this.#calls.length > 0;
  }

  /** Other output has begun: the first call takes no more arguments. */
  interrupt(): void {
    this.#firstIsOpen = false;
  }

  read(sent: ChatToolCall): readonly TextEvent[] {
    const json = sent.function?.arguments ?? '';
    const known = this.#find(sent);
    if (known && known === this.#calls[0]) return this.#growFirst(json);
    if (known) known.json += json;
    return known ? [] : this.#open(sent, json);
  }

  /** The arguments of the calls that are held back. */
  get heldArguments(): string {
    return this.#calls
      .slice(1)
      .map(({ json }) => json)
      .join('');
  }

  /** What was held back. */
  held(): readonly TextEvent[] {
    return this.#calls.slice(1).flatMap(({ id, name, json }) => [
      { type: 'call', id, name },
      { type: 'arguments', json },
    ]);
  }

  #growFirst(json: string): readonly TextEvent[] {
    if (json === '') return [];
    if (!this.#firstIsOpen) throw brokenOff();
    return [{ type: 'arguments', json }];
  }

  #open(sent: ChatToolCall, json: string): readonly TextEvent[] {
    const { length } = this.#calls;
    const call = { key: sent.index ?? length, id: sent.id || newCallId(), name: sent.function?.name ?? '', json };
    this.#calls.push(call);
    if (length > 0) return [];
    this.#firstIsOpen = true;
    const opening: TextEvent = { type: 'call', id: call.id, name: call.name };
    return json === '' ? [opening] : [opening, { type: 'arguments', json }];
  }

  /** Some servers leave the index out or repeat 0: a new id with a name then means a new call. */
  #find({ index, id, function: called }: ChatToolCall): OpenCall | undefined {
    const same = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.key === index);
    return id && called?.name && same?.id !== id ? undefined : same;
  }
}
