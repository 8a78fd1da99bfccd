import fc from 'fast-check';
import type {
  CallPart,
  FilePart,
  ImagePart,
  ReasoningPart,
  ResultPart,
  TextPart,
  TextStyle,
  UserPart,
} from '#contracts';

/** What a model may say: its reply, in which it may refuse. */
export type Answered = TextPart | CallPart | ReasoningPart | { readonly type: 'refusal'; readonly text: string };

/** What a user says, and what the model answers to it. */
export interface Round {
  readonly said: readonly UserPart[];
  /** From an upstream, with its proofs. */
  readonly answered: readonly Answered[];
}

/** A conversation with one upstream. */
export interface Conversation {
  readonly system: readonly string[];
  readonly rounds: readonly Round[];
}

/** Any characters but blank lines, with which some interfaces put texts together. */
const plain = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .map((text) => text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim())
  .filter((text) => text !== '' && !text.startsWith('Error'));

/** What commands print and programs cut: halves of characters, NUL, what ends a line or begins a file, what JSON escapes. */
const odd = fc.constantFrom(
  '\ud83d',
  '\ude00',
  '\0',
  '\u2028',
  '\ufeff',
  '\u202e',
  '"',
  '\\',
  '\u007f',
  '\ud83d\ude00',
);

const words = fc.oneof(
  { weight: 3, arbitrary: plain },
  { weight: 1, arbitrary: fc.tuple(plain, odd, plain).map(([before, strange, after]) => before + strange + after) },
);

/** Words, or none. */
const perhaps = fc.oneof({ weight: 4, arbitrary: words }, { weight: 1, arbitrary: fc.constantFrom('', ' ', '\n\n') });

const text = words.map((said): TextPart => ({ type: 'text', text: said }));
const perhapsText = perhaps.map((said): TextPart => ({ type: 'text', text: said }));

const image = fc.oneof(
  fc
    .nat(99)
    .map((number): ImagePart => ({ type: 'image', source: { kind: 'url', url: `https://a.example/${number}.png` } })),
  fc.nat(99).map((number): ImagePart => ({
    type: 'image',
    source: { kind: 'inline', mediaType: 'image/png', base64: base64Of(number) },
  })),
);

const document = fc.nat(99).map((number): FilePart => ({
  type: 'file',
  source: { kind: 'inline', mediaType: 'application/pdf', base64: base64Of(number) },
}));

const base64Of = (number: number): string => Buffer.from(String(number)).toString('base64');

const args = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)),
  { maxKeys: 3 },
);

/** A piece of an answer: reasoning, or none, and what it led to. */
const step = fc.record({
  thought: fc.option(fc.tuple(words, fc.stringMatching(/^[A-Za-z0-9]{1,9}$/)), { nil: undefined }),
  did: fc.oneof(perhaps, fc.record({ name: fc.stringMatching(/^[a-z]{2,8}_[a-z]{2,8}$/), args })),
});

/** What a function returned: texts, perhaps an image or a file, or a failure. */
const returned = fc.record({
  texts: fc.array(perhapsText, { minLength: 1, maxLength: 2 }),
  images: fc.array(fc.oneof(image, document), { maxLength: 1 }),
  isError: fc.boolean(),
});

const round = fc.record({
  opening: text,
  said: fc.array(fc.oneof(perhapsText, image, document), { maxLength: 3 }),
  steps: fc.array(step, { minLength: 1, maxLength: 3 }),
  refusal: fc.option(words, { freq: 4, nil: undefined }),
  returned: fc.array(returned, { minLength: 3, maxLength: 3 }),
});

/** Conversations with an upstream of a protocol: texts, images, files, calls with their results and proven reasoning. */
export const conversations = (protocol: TextStyle): fc.Arbitrary<Conversation> =>
  fc
    .record({ system: fc.array(words, { maxLength: 2 }), rounds: fc.array(round, { minLength: 1, maxLength: 3 }) })
    .map(({ system, rounds }) => ({ system, rounds: connected(rounds, protocol) }));

type Drawn = typeof round extends fc.Arbitrary<infer Value> ? Value : never;

/** Calls get ids of their own, and the next round begins with what they returned. */
function connected(drawn: readonly Drawn[], protocol: TextStyle): Round[] {
  let results: ResultPart[] = [];
  return drawn.map(({ opening, said, steps, refusal, returned: outputs }, place) => {
    const before = results;
    results = [];
    const answered = steps.flatMap(({ thought, did }, index) => {
      const id = `call_${place}_${index}`;
      const output = outputs[index];
      if (typeof did !== 'string' && output)
        results.push({
          type: 'result',
          callId: id,
          name: did.name,
          content: [...output.texts, ...output.images],
          isError: output.isError,
        });
      const part: TextPart | CallPart =
        typeof did === 'string'
          ? { type: 'text', text: did }
          : { type: 'call', id, name: did.name, arguments: JSON.stringify(did.args) };
      return [...(thought ? reasoning(thought, index, protocol) : []), part];
    });
    return { said: [...before, opening, ...said], answered: [...answered, ...ending(steps, refusal)] };
  });
}

const leadsSomewhere = (did: Drawn['steps'][number]['did']): boolean => typeof did !== 'string' || did.trim() !== '';

/** A refusal; or words, where the answer would say and do nothing. */
function ending(steps: Drawn['steps'], refusal: string | undefined): Answered[] {
  if (refusal !== undefined) return [{ type: 'refusal', text: refusal }];
  return steps.some(({ did }) => leadsSomewhere(did)) ? [] : [{ type: 'text', text: 'Yes.' }];
}

/** Vendors of the chat interface reason once, in front of the answer, and prove nothing. */
function reasoning([text, proof]: readonly [string, string], index: number, protocol: TextStyle): ReasoningPart[] {
  if (protocol === 'chat') return index === 0 ? [{ type: 'reasoning', text, signature: 'chat:reasoning_content' }] : [];
  return [{ type: 'reasoning', text, signature: `${protocol}:${proof}` }];
}
