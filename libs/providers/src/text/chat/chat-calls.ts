import type { JsonValue, TextEvent } from '#contracts';
import { newCallId } from '../upstream/new-call-id.js';
import { brokenOff } from '../upstream/codec-failures.js';

/** A piece of a call, or a whole one. Some servers write the arguments as the object itself. */
export interface ChatToolCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: JsonValue };
}

interface OpenCall {
  readonly key: number;
  readonly id: string;
  name: string;
  json: string;
}

/**
 * The calls of one reply. They may interleave in this protocol and may not in ours, so the first call streams and the
 * others are held back until the reply is over. So is a first call whose name comes after other output.
 */
export class ChatCalls {
  readonly #calls: OpenCall[] = [];
  #streamed: OpenCall | undefined;
  #firstIsOpen = true;

  /** True once the model has called anything. */
  get some(): boolean {
    return this.#calls.length > 0;
  }

  /** Other output has begun: the first call takes no more arguments. */
  interrupt(): void {
    if (this.#calls.length > 0) this.#firstIsOpen = false;
  }

  /** @param place of the piece among those of one chunk. */
  read(sent: ChatToolCall, place: number): readonly TextEvent[] {
    const json = argumentsIn(sent);
    const call = this.#find(sent, place, json) ?? this.#open(sent);
    call.name ||= sent.function?.name ?? '';
    call.json += json;
    if (call === this.#streamed) return this.#growStreamed(json);
    if (call !== this.#calls[0] || !this.#firstIsOpen || call.name === '') return [];
    this.#streamed = call;
    return [{ type: 'call', id: call.id, name: call.name }, ...this.#growStreamed(call.json)];
  }

  /** The arguments of the calls that are held back. */
  get heldArguments(): string {
    return this.#held.map(({ json }) => json).join('');
  }

  /** What was held back. */
  held(): readonly TextEvent[] {
    return this.#held.flatMap(({ id, name, json }) => [
      { type: 'call', id, name },
      { type: 'arguments', json },
    ]);
  }

  get #held(): readonly OpenCall[] {
    return this.#calls.filter((call) => call !== this.#streamed);
  }

  #growStreamed(json: string): readonly TextEvent[] {
    if (json === '') return [];
    if (!this.#firstIsOpen) throw brokenOff();
    return [{ type: 'arguments', json }];
  }

  #open(sent: ChatToolCall): OpenCall {
    const call = { key: sent.index ?? this.#calls.length, id: sent.id || newCallId(), name: '', json: '' };
    this.#calls.push(call);
    return call;
  }

  /** Some servers leave the index out or repeat 0, some the id as well: a name then means a new call. */
  #find({ index, id, function: called }: ChatToolCall, place: number, json: string): OpenCall | undefined {
    const same = index == null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.key === index);
    if (!same || !called?.name) return same;
    if (id) return same.id === id || same.name === '' ? same : undefined;
    // A server that repeats the name with every piece does not begin again behind whole arguments.
    const isAnother = (index == null && place > 0) || (json !== '' && isWhole(same.json));
    return isAnother ? undefined : same;
  }
}

function argumentsIn({ function: called }: ChatToolCall): string {
  const sent = called?.arguments;
  if (typeof sent === 'string') return sent;
  return sent === undefined || sent === null ? '' : JSON.stringify(sent);
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
