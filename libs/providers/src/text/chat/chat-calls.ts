import type { JsonValue, TextEvent } from '#contracts';
import { argumentsText, newCallId } from '../upstream/request-fields.js';
import { brokenOff } from '../upstream/codec-failures.js';
import { markSignature } from '../upstream/signatures.js';
import { proofBeside, proofOfCall } from './chat-proofs.js';
import { WrittenArguments } from './written-arguments.js';

/** A piece of a call, or a whole one. Some servers write the arguments as the object itself. */
export interface ChatToolCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: JsonValue };
  /** One vendor's place for its proof of the reasoning behind the call, without which it refuses the call later. */
  readonly extra_content?: JsonValue;
}

type SentFunction = NonNullable<ChatToolCall['function']>;

/** The calls of a message or delta. */
export interface ChatSentCalls {
  readonly tool_calls?: readonly ChatToolCall[] | null;
  /** The legacy form of one call, which has no id. Some servers name it and say nothing in it. */
  readonly function_call?: SentFunction | null;
}

const NONE: readonly ChatToolCall[] = [];

interface OpenCall {
  readonly key: number;
  readonly id: string;
  /** As its server named it, which may name several so. */
  readonly sentId: string | null | undefined;
  name: string;
  readonly written: WrittenArguments;
  proof: string | undefined;
}

/**
 * The calls of one reply. They may interleave in this protocol and may not in ours, so the first call streams and the
 * others are held back until the reply is over. So is a first call whose name comes after other output.
 */
export class ChatCalls {
  private readonly calls: OpenCall[] = [];
  /** The last call of each index. */
  private readonly latest = new Map<number, OpenCall>();
  private streamed: OpenCall | undefined;
  private firstIsOpen = true;
  private hasToolCalls = false;
  /** The proof of the streamed call, where it came when the call had gone out, until it is told. */
  private late: string | undefined;
  /** A proof that came in front of its call. */
  private ahead: string | undefined;

  /** True once the model has called anything. */
  get some(): boolean {
    return this.calls.length > 0;
  }

  /** Other output has begun: the first call takes no more arguments. */
  interrupt(): void {
    if (this.calls.length > 0) this.firstIsOpen = false;
  }

  /** Takes what a vendor writes at a message or delta, not at a call of it: its proof of the call that comes next. */
  announce(extra: JsonValue | undefined): void {
    this.ahead = proofBeside(extra) ?? this.ahead;
  }

  /** What is to be read of a message. A server that writes both forms says the same in them. */
  in({ tool_calls: calls, function_call: legacy }: ChatSentCalls): readonly ChatToolCall[] {
    if (calls?.length) {
      this.hasToolCalls = true;
      return calls;
    }
    if (this.hasToolCalls || !legacy || (!legacy.name && !legacy.arguments)) return NONE;
    return [{ index: 0, function: legacy }];
  }

  /** @param place of the piece among those of one chunk. */
  read(sent: ChatToolCall, place: number): readonly TextEvent[] {
    const json = argumentsText(sent.function?.arguments);
    const call = this.find(sent, place, json) ?? this.open(sent);
    call.name ||= sent.function?.name ?? '';
    call.written.push(json);
    const isLate = call === this.streamed && call.proof === undefined;
    call.proof ??= proofBeside(sent.extra_content);
    if (isLate) this.late = call.proof;
    if (call === this.streamed) return this.growStreamed(json);
    if (call !== this.calls[0] || !this.firstIsOpen || call.name === '') return [];
    this.streamed = call;
    return [...beginning(call), ...this.growStreamed(call.written.json)];
  }

  /** The arguments of the calls that are held back. */
  get heldArguments(): string {
    return this.waitingCalls.map(({ written }) => written.json).join('');
  }

  /** What was held back. */
  held(): readonly TextEvent[] {
    return [...this.lateProof(), ...this.heldCalls()];
  }

  /** Nothing of the reply may cut the streamed call in two, so that its proof follows it at the end. */
  private lateProof(): readonly TextEvent[] {
    return this.late === undefined ? [] : [signatureOf(proofOfCall(this.late, true))];
  }

  private heldCalls(): readonly TextEvent[] {
    return this.waitingCalls.flatMap((call) => [...beginning(call), { type: 'arguments', json: call.written.json }]);
  }

  private get waitingCalls(): readonly OpenCall[] {
    return this.calls.filter((call) => call !== this.streamed);
  }

  private growStreamed(json: string): readonly TextEvent[] {
    if (json === '') return [];
    if (!this.firstIsOpen) throw brokenOff();
    return [{ type: 'arguments', json }];
  }

  private open(sent: ChatToolCall): OpenCall {
    const call = {
      key: sent.index ?? this.calls.length,
      id: this.freeId(sent.id),
      sentId: sent.id,
      name: '',
      written: new WrittenArguments(),
      proof: proofBeside(sent.extra_content) ?? this.ahead,
    };
    this.ahead = undefined;
    this.calls.push(call);
    this.latest.set(call.key, call);
    return call;
  }

  /** Its server's id, unless it gave none or has given it to another call: results would not find theirs. */
  private freeId(sent: string | null | undefined): string {
    return !sent || this.calls.some(({ id }) => id === sent) ? newCallId() : sent;
  }

  /** Some servers leave the index out or repeat 0, some the id as well: a name then means a new call. */
  private find({ index, id, function: called }: ChatToolCall, place: number, json: string): OpenCall | undefined {
    const same = index == null ? this.calls.at(-1) : this.latest.get(index);
    if (!same || !called?.name) return same;
    // In one chunk stand calls side by side, not pieces of one.
    if (index == null && place > 0 && same.name !== '') return undefined;
    if (id) return same.sentId === id || same.name === '' ? same : undefined;
    // A server that repeats the name with every piece does not begin again behind whole arguments.
    return json !== '' && same.written.areWhole ? undefined : same;
  }
}

function beginning({ id, name, proof }: OpenCall): TextEvent[] {
  const call: TextEvent = { type: 'call', id, name };
  return proof === undefined ? [call] : [signatureOf(proofOfCall(proof, false)), call];
}

const signatureOf = (proof: string): TextEvent => ({ type: 'signature', signature: markSignature('chat', proof) });
