import {
  GatewayError,
  type AssistantPart,
  type ImagePart,
  type ResultPart,
  type TextPart,
  type Turn,
  type UserPart,
} from '#contracts';
import { unpackResults } from './hosted-tools/carried-results.js';

interface Result {
  readonly callId: string;
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** Gathers the turns of a conversation in order and pairs each function result with its call. */
export class TurnList {
  readonly #system: string[] = [];
  readonly #turns: { role: Turn['role']; parts: (UserPart | AssistantPart)[] }[] = [];
  readonly #callNames = new Map<string, string>();
  /** What the gateway's own tools came to in the assistant's last turn; it stands behind that. */
  #carried: ResultPart[] = [];

  /** What the system says: in front of the conversation while it has no turn, and then where it stands. */
  system(text: string): void {
    this.#answerCarried();
    if (this.#turns.length === 0) this.#system.push(text);
    else this.#turns.push({ role: 'system', parts: [{ type: 'text', text }] });
  }

  /** Neighbouring user parts stay apart from results, which have a form of their own in most protocols. */
  user(parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    this.#answerCarried();
    this.#turns.push({ role: 'user', parts: [...parts] });
  }

  /** Neighbouring assistant parts are one turn: text and the calls it ends in belong together. */
  assistant(sent: readonly AssistantPart[]): void {
    const { said: parts, results } = unpackResults(sent);
    this.#carried.push(...results);
    if (parts.length === 0) return;
    for (const part of parts) if (part.type === 'call') this.#callNames.set(part.id, part.name);
    const last = this.#turns.at(-1);
    if (last?.role === 'assistant') {
      dropRepeated(last.parts, parts);
      last.parts.push(...parts);
    } else this.#turns.push({ role: 'assistant', parts: [...parts] });
  }

  /**
   * Adds what a function returned; results in a row share a turn.
   *
   * @throws GatewayError `invalid_parameter` at `param` when no earlier turn holds the call.
   */
  result(result: Result, param: string): void {
    const name = this.#callNames.get(result.callId);
    if (name === undefined)
      throw new GatewayError('invalid_parameter', `${param} answers a tool call that no earlier turn makes.`, {
        param,
      });
    this.#answerCarried();
    this.#addResult({ type: 'result', name, ...result });
  }

  /** The calls with this function name that no result has answered yet, oldest first. */
  unansweredCalls(name: string): string[] {
    const parts = this.#turns.flatMap((turn) => turn.parts);
    const answered = new Set(parts.map((part) => (part.type === 'result' ? part.callId : '')));
    return parts.flatMap((part) =>
      part.type === 'call' && part.name === name && !answered.has(part.id) ? [part.id] : [],
    );
  }

  /** The conversation, and what the system says in front of it. */
  conversation(): { readonly system: readonly string[]; readonly turns: readonly Turn[] } {
    this.#answerCarried();
    return { system: this.#system, turns: this.#turns as readonly Turn[] };
  }

  #addResult(part: ResultPart): void {
    const last = this.#turns.at(-1);
    if (last?.role === 'user' && last.parts.every((other) => other.type === 'result')) last.parts.push(part);
    else this.#turns.push({ role: 'user', parts: [part] });
  }

  #answerCarried(): void {
    for (const part of this.#carried.splice(0)) this.#addResult(part);
  }
}

/** Thoughts that stand there without their proof, and come again with it: some clients keep both, others the proof alone. */
function dropRepeated(before: (UserPart | AssistantPart)[], added: readonly AssistantPart[]): void {
  const proven = added.flatMap((part) =>
    part.type === 'reasoning' && part.signature !== undefined ? [part.text] : [],
  );
  const thought = proven.join('');
  if (thought === '') return;
  const from = before.findLastIndex((part) => part.type !== 'reasoning' || part.signature !== undefined) + 1;
  const unproven = before.slice(from).map((part) => (part.type === 'reasoning' ? part.text : ''));
  if (unproven.join('') === thought) before.splice(from);
}
