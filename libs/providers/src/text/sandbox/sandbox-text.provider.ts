import { setTimeout as sleep } from 'node:timers/promises';
import {
  type FinishReason,
  GatewayError,
  NO_USAGE,
  type StopSignal,
  type TextCall,
  type TextEvent,
  type TextProvider,
  type TextReply,
  type TextRequest,
  type TextUsage,
} from '#contracts';
import { asAbortSignal } from '#platform';
import { readPromptDirectives, type PromptDirectives } from '../../prompt-directives.js';
import { loadTokenCounter, type TokenCounter } from '../upstream/token-counter.js';
import { SANDBOX_SIGNATURE, wholePrompt, writeScript, type SandboxScript } from './sandbox-script.js';

/** How long the tries of a `[sandbox:flaky]` request are remembered, counted in requests. */
const REMEMBERED_REQUESTS = 1_000;

/** A text-only test word: the reply breaks off after a few words, as a cut connection would. */
const CUT = '[sandbox:cut]';
const WORDS_BEFORE_CUT = 5;

/** Words with the space before them, so that joining the pieces gives the text. */
const inWords = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [];

/** Pieces of JSON, so that arguments stream as well. */
const inPieces = (json: string): string[] => json.match(/.{1,12}/gs) ?? [];

interface StoppedText {
  readonly text: string;
  readonly stopSequence?: string;
}

/** The text up to the first stop sequence. */
function stopAt(text: string, sequences: readonly string[]): StoppedText {
  const found = sequences
    .filter((sequence) => sequence !== '')
    .map((stopSequence) => ({ stopSequence, at: text.indexOf(stopSequence) }))
    .filter(({ at }) => at !== -1)
    .toSorted((one, other) => one.at - other.at)[0];
  return found ? { text: text.slice(0, found.at), stopSequence: found.stopSequence } : { text };
}

/**
 * A writer without a model, so that everything works with nothing configured. It says what it was sent, calls tools that
 * are forced, named, or answer the question, fills JSON schemas, thinks when asked, and obeys stop sequences and output limits.
 */
export class SandboxTextProvider implements TextProvider {
  readonly protocol = 'sandbox';
  private readonly tries = new Map<string, number>();

  /**
   * @param wordDelayMs pause between two words of a stream, so that it looks like one.
   * @param id its name as an upstream.
   */
  constructor(
    private readonly wordDelayMs: number,
    readonly id = 'sandbox',
  ) {}

  async call(call: TextCall, signal: StopSignal): Promise<TextReply> {
    try {
      return await this.reply(call, asAbortSignal(signal));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  private async reply(call: TextCall, signal: AbortSignal): Promise<TextReply> {
    const request = call.request();
    const prompt = wholePrompt(request);
    const words = readPromptDirectives(prompt);
    if (words.hang) await sleep(2_147_483_647, undefined, { signal });
    await sleep(words.delayMs ?? 0, undefined, { signal });
    this.failAsDirected(words, call.requestId);
    const counter = await loadTokenCounter();
    const script = words.failure === 'content_policy' ? REFUSAL : await writeScript(request);
    const events = await compose(request, script, counter, words.failure === 'content_policy');
    const cut = prompt.includes(CUT);
    const usage = usageIn(events);
    call.onReply?.({ reportedUsage: () => usage, mayReasonUnasked: false });
    return { kind: 'events', events: this.play(events, cut, call.stream, signal) };
  }

  private failAsDirected({ failure, flakyStarts }: PromptDirectives, requestId: string): void {
    if (failure === 'upstream_error')
      throw new GatewayError('upstream_error', 'The prompt asked the sandbox to fail with upstream_error.');
    if (flakyStarts === 0) return;
    const tries = (this.tries.get(requestId) ?? 0) + 1;
    this.tries.set(requestId, tries);
    const [oldest] = this.tries.keys();
    if (this.tries.size > REMEMBERED_REQUESTS && oldest !== undefined) this.tries.delete(oldest);
    if (tries <= flakyStarts)
      throw new GatewayError(
        'overloaded',
        `The prompt asked the sandbox to fail ${flakyStarts} times; this was try ${tries}.`,
      );
  }

  private async *play(
    events: readonly TextEvent[],
    cut: boolean,
    stream: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<readonly TextEvent[]> {
    let played = 0;
    for (const event of events) {
      if (cut && played === WORDS_BEFORE_CUT)
        throw new GatewayError('upstream_error', 'The prompt asked the sandbox to break off.');
      if (stream && played > 0 && this.wordDelayMs > 0) await sleep(this.wordDelayMs, undefined, { signal });
      played += 1;
      yield [event];
    }
  }
}

/** The sandbox knows its whole bill before the first word; what it reports before the last one is the input. */
function usageIn(events: readonly TextEvent[]): TextUsage | undefined {
  const finish = events.at(-1);
  return finish?.type === 'finish' && finish.usage
    ? { ...finish.usage, outputTokens: 0, reasoningTokens: 0 }
    : undefined;
}

const REFUSAL: SandboxScript = {
  reasoning: '',
  text: 'The prompt asked the sandbox to refuse this content.',
  calls: [],
};

/** The events of a script, cut where a stop sequence or the output limit says so. */
async function compose(
  request: TextRequest,
  script: SandboxScript,
  counter: TokenCounter,
  refused: boolean,
): Promise<TextEvent[]> {
  const { text, stopSequence } = stopAt(script.text, request.stopSequences);
  const input = await counter.countRequest(request);
  const body = new LimitedEvents(counter, request.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  if (script.reasoning !== '') {
    const shown = request.reasoning?.visible ? inWords(script.reasoning) : [];
    for (const word of shown) await body.add({ type: 'reasoning', text: word }, word);
    body.events.push({ type: 'signature', signature: SANDBOX_SIGNATURE });
  }
  const reasoningTokens = body.tokens;
  for (const word of inWords(text)) await body.add({ type: 'text', text: word }, word);
  for (const { id, name, arguments: json } of script.calls) {
    await body.add({ type: 'call', id, name }, name);
    for (const piece of inPieces(json)) await body.add({ type: 'arguments', json: piece }, piece);
  }
  const ending = endingOf(body.full, refused, script.calls.length > 0, stopSequence);
  return [
    { type: 'start', inputTokens: input.inputTokens },
    ...body.events,
    {
      type: 'finish',
      ...ending,
      usage: {
        ...NO_USAGE,
        inputTokens: input.inputTokens,
        imageInputTokens: input.imageTokens,
        outputTokens: body.tokens,
        reasoningTokens,
        source: 'upstream',
      },
    },
  ];
}

function endingOf(
  full: boolean,
  refused: boolean,
  called: boolean,
  stopSequence: string | undefined,
): { reason: FinishReason; stopSequence?: string } {
  if (refused) return { reason: 'content-filter' };
  if (full) return { reason: 'length' };
  if (stopSequence !== undefined) return { reason: 'stop-sequence', stopSequence };
  return { reason: called ? 'tool-calls' : 'stop' };
}

/** Events until their tokens reach a limit; what would go beyond it is left out. */
class LimitedEvents {
  readonly events: TextEvent[] = [];
  tokens = 0;
  full = false;

  constructor(
    private readonly counter: TokenCounter,
    private readonly limit: number,
  ) {}

  async add(event: TextEvent, counted: string): Promise<void> {
    const tokens = await this.counter.count(counted);
    if (this.full || this.tokens + tokens > this.limit) {
      this.full = true;
      return;
    }
    this.tokens += tokens;
    this.events.push(event);
  }
}
