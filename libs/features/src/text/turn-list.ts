import {
  type AssistantPart,
  type CallPart,
  GatewayError,
  type JsonObject,
  type ResultPart,
  type ReturnedPart,
  type Turn,
  type UserPart,
} from '#contracts';
import { JsonTexts, textCharactersIn, TooMuchStructure } from '#platform';
import { unpackResults } from './hosted-tools/carried-results.js';

/**
 * More than any model reads. Texts of a conversation may be longer, but these are written as JSON, or parsed, in one go, which takes
 * some 6 ms for a million characters.
 */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** The arguments of all calls of one conversation, and objects that functions returned, which one style has as JSON and another as text. */
export class CallArguments {
  private counted = 0;
  private characters = 0;

  /**
   * @param field of the request that holds the conversation.
   * @param texts what else the request holds as JSON within texts.
   */
  constructor(
    private readonly field: string,
    private readonly texts: JsonTexts,
  ) {}

  /**
   * The text of an object.
   *
   * @throws GatewayError `invalid_parameter` when all of them together are too long.
   */
  written(value: JsonObject): string {
    this.characters += textCharactersIn(value, CHARACTERS_MAX);
    this.expectShort(this.characters);
    return JSON.stringify(value);
  }

  /**
   * Counts a text: many vendors take arguments as objects, and so they are parsed on their way.
   *
   * @throws GatewayError `invalid_parameter` when all of them together are too long, or have more structure than is parsed.
   */
  count(json: string): void {
    this.counted += json.length;
    this.expectShort(this.counted);
    try {
      this.texts.count(json);
    } catch (failure) {
      throw failure instanceof TooMuchStructure ? this.refusal(failure.rule) : failure;
    }
  }

  private expectShort(characters: number): void {
    if (characters > CHARACTERS_MAX) throw this.refusal(`have at most ${CHARACTERS_MAX} characters`);
  }

  private refusal(rule: string): GatewayError {
    const message = `${this.field}: The arguments of all calls in it together may ${rule}.`;
    return new GatewayError('invalid_parameter', message, { param: this.field });
  }
}

interface Result {
  readonly callId: string;
  /** What function returned, in a style whose ids are optional: where no call has the id, its oldest open call is meant. */
  readonly name?: string;
  readonly content: readonly ReturnedPart[];
  readonly isError: boolean;
}

/** A call of an earlier turn. */
interface MadeCall {
  /** Unique in the whole conversation: some vendors restart their count in every turn. */
  readonly id: string;
  readonly name: string;
  isAnswered: boolean;
}

/** Gathers the turns of a conversation in order and pairs each function result with its call. */
export class TurnList {
  /** What the request holds as JSON within texts. */
  readonly texts = new JsonTexts();
  readonly arguments: CallArguments;
  private readonly systemTexts: string[] = [];
  private readonly turns: { role: Turn['role']; parts: (UserPart | AssistantPart)[] }[] = [];
  private readonly callsById = new Map<string, MadeCall[]>();
  private readonly callsByName = new Map<string, MadeCall[]>();
  private calls = 0;
  /** The last turn, when it holds nothing but results. */
  private lastResults: ResultPart[] | undefined;
  /** Results of the gateway's own tools in the assistant's last turn; they follow that turn. */
  private carried: ResultPart[] = [];

  /** @param field of the request that holds the conversation. */
  constructor(field: string) {
    this.arguments = new CallArguments(field, this.texts);
  }

  /** What the system says: in front of the conversation while it has no turn, and then where it stands. */
  system(text: string): void {
    this.answerCarried();
    if (this.turns.length === 0) this.systemTexts.push(text);
    else this.turns.push({ role: 'system', parts: [{ type: 'text', text }] });
  }

  /** Neighbouring user parts stay apart from results, which have a form of their own in most protocols. */
  user(parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    this.answerCarried();
    this.turns.push({ role: 'user', parts: [...parts] });
  }

  /**
   * Neighbouring assistant parts are one turn: text and the calls it ends in belong together.
   *
   * @throws GatewayError `invalid_parameter` when the arguments of all calls together are too long or have more structure than is parsed.
   */
  assistant(sent: readonly AssistantPart[]): void {
    const { said: parts, results } = unpackResults(sent, this.texts);
    this.carried.push(...results);
    if (parts.length === 0) return;
    const added = parts.map((part) => (part.type === 'call' ? { ...part, id: this.addCall(part).id } : part));
    const last = this.turns.at(-1);
    if (last?.role === 'assistant') {
      dropRepeated(last.parts, added);
      last.parts.push(...apartFrom(last.parts.at(-1), added));
    } else this.turns.push({ role: 'assistant', parts: added });
  }

  /**
   * Adds what a function returned; results in a row share a turn.
   *
   * @throws GatewayError `invalid_parameter` at `param` when no earlier turn holds the call.
   */
  result({ content, isError, ...answered }: Result, param: string): void {
    const call = this.answer(answered);
    if (call === undefined) throw GatewayError.ofField(param, 'answers a tool call that no earlier turn makes');
    this.answerCarried();
    this.addResult({ type: 'result', callId: call.id, name: call.name, content, isError });
  }

  /** The id of the next call, in a style whose ids are optional. The same in every request, so that a prompt cache stays valid. */
  nextCallId(): string {
    return `call_${this.calls + 1}`;
  }

  /** The conversation, and what the system says in front of it. */
  conversation(): { readonly system: readonly string[]; readonly turns: readonly Turn[] } {
    this.answerCarried();
    if (this.turns.length > 0) return { system: this.systemTexts, turns: this.turns as readonly Turn[] };
    // Every protocol needs a turn to answer, even when there are only system messages, or a message without parts.
    const last = this.systemTexts.slice(-1).map((text) => ({ type: 'text' as const, text }));
    if (last.length > 0) return { system: this.systemTexts.slice(0, -1), turns: [{ role: 'system', parts: last }] };
    return { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: '' }] }] };
  }

  private addCall({ id: sent, name, arguments: json }: CallPart): MadeCall {
    this.arguments.count(json);
    this.calls += 1;
    const sameId = listIn(this.callsById, sent);
    const call = { id: sameId.length === 0 ? sent : `${sent}_${this.calls}`, name, isAnswered: false };
    sameId.push(call);
    listIn(this.callsByName, name).push(call);
    return call;
  }

  /** Of several calls with one id, the oldest is answered first. */
  private answer({ callId, name }: Pick<Result, 'callId' | 'name'>): MadeCall | undefined {
    const sameId = this.callsById.get(callId);
    const named = name === undefined ? undefined : this.callsByName.get(name);
    const call = sameId ? (oldestOpen(sameId) ?? sameId.at(-1)) : named && oldestOpen(named);
    if (call) call.isAnswered = true;
    return call;
  }

  private addResult(part: ResultPart): void {
    const last = this.turns.at(-1);
    if (last && last.parts === this.lastResults) last.parts.push(part);
    else this.turns.push({ role: 'user', parts: (this.lastResults = [part]) });
  }

  private answerCarried(): void {
    for (const part of this.carried.splice(0))
      this.addResult({ ...part, callId: this.answer(part)?.id ?? part.callId });
  }
}

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Leaves out the answered ones in front of it, which are looked at no more; one stays. */
function oldestOpen(calls: MadeCall[]): MadeCall | undefined {
  while (calls.length > 1 && calls[0]?.isAnswered) calls.shift();
  return calls.find(({ isAnswered }) => !isAnswered);
}

/** Two messages of one turn stay two, also where a vendor has one place for what was said. */
function apartFrom(
  before: UserPart | AssistantPart | undefined,
  [first, ...rest]: readonly AssistantPart[],
): readonly AssistantPart[] {
  if (!first) return [];
  return [before?.type === 'text' && first.type === 'text' ? { ...first, isApart: true } : first, ...rest];
}

/** Thoughts that are there without their proof and are repeated with it: some clients keep both, others the proof alone. */
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
