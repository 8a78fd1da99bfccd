/** What the fake vendor understood of a request, whatever its protocol. */
export interface VendorRequest {
  readonly text: string;
  readonly images: number;
  readonly toolNames: readonly string[];
  /** What the last tool result said. */
  readonly result: string | undefined;
  readonly mustCall: boolean;
  readonly stream: boolean;
  readonly thinks: boolean;
  /** Whether the caller wants JSON. */
  readonly json: boolean;
  /** The most tokens of the reply; undefined where the request names no limit. */
  readonly maxTokens: number | undefined;
}

/** The reply of the fake vendor. */
export interface VendorScript {
  /** Makes the ids of this reply its own, as at a real vendor. */
  readonly serial: number;
  readonly reasoning: string | undefined;
  readonly text: string;
  readonly call: VendorCall | undefined;
  /** Called at once with `call`. */
  readonly alsoCalled?: VendorCall | undefined;
  /** True: the output limit cut it off. */
  readonly isCut?: boolean;
  /** What it says when it is asked to go on, once for each: a reply that is longer than a request may have. */
  readonly continued?: readonly string[];
}

/** A call of a function of the caller's. */
export interface VendorCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Every call of a reply. */
export const callsOf = ({ call, alsoCalled }: Pick<VendorScript, 'call' | 'alsoCalled'>): readonly VendorCall[] =>
  [call, alsoCalled].filter((each) => each !== undefined);

/** The fake vendor's bill, the same for every reply; each protocol writes it in its own way. */
export const VENDOR_USAGE = { input: 11, cached: 3, output: 7, reasoning: 2 };

let replies = 0;

/** A reply before it is numbered. */
export type VendorWords = Omit<VendorScript, 'serial'>;

/** Gives the same reply to the same request, unless the reply is scripted. */
export function decide(request: VendorRequest, scripted?: VendorWords, obeysLimit = false): VendorScript {
  replies += 1;
  const words = scripted ?? wordsFor(request);
  return { serial: replies, ...(obeysLimit ? withinLimit(words, request) : words) };
}

const CHARACTERS_PER_TOKEN = 4;

/** The words as far as the request's limit lets them go: a call that is not whole is none. */
function withinLimit(words: VendorWords, { maxTokens = Number.POSITIVE_INFINITY }: VendorRequest): VendorWords {
  const { reasoning = '', text } = words;
  const called = callsOf(words).map(({ args }) => JSON.stringify(args));
  const length = [reasoning, text, ...called].join('').length;
  if (length <= maxTokens * CHARACTERS_PER_TOKEN) return words;
  return {
    reasoning: words.reasoning,
    text: text.slice(0, maxTokens * CHARACTERS_PER_TOKEN),
    call: undefined,
    isCut: true,
  };
}

function wordsFor(request: VendorRequest): VendorWords {
  const named = request.toolNames.find((name) => request.text.includes(name));
  const called =
    request.result === undefined ? (named ?? (request.mustCall ? request.toolNames[0] : undefined)) : undefined;
  const reasoning = request.thinks ? 'Let me think.' : undefined;
  if (called !== undefined)
    return { reasoning, text: '', call: { id: 'call_v1', name: called, args: argumentsIn(request.text) } };
  if (request.json) return { reasoning, text: '{"city":"Paris"}', call: undefined };
  if (request.result !== undefined) return { reasoning, text: `The tool said ${request.result}`, call: undefined };
  const seen = request.images > 0 ? `I see ${request.images} image(s). ` : '';
  return { reasoning, text: `${seen}Vendor heard: ${request.text}`, call: undefined };
}

/** A text in three pieces, as a stream would bring it. */
export function pieces(text: string): string[] {
  const third = Math.max(1, Math.ceil(text.length / 3));
  return text.match(new RegExp(`.{1,${third}}`, 'gs')) ?? [];
}

/** A prompt may end in `with {...}`: the arguments of the call. */
function argumentsIn(text: string): Readonly<Record<string, unknown>> {
  const json = / with (\{.*\})$/s.exec(text)?.[1];
  return json === undefined ? { city: 'Paris' } : (JSON.parse(json) as Record<string, unknown>);
}
