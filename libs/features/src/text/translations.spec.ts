import {
  ChatRequest,
  checkBody,
  GatewayError,
  GeminiRequest,
  type JsonObject,
  MessagesRequest,
  PRICED,
  PRICED_CONFIG,
  ResponsesRequest,
  type TextStyle,
} from '#contracts';
import { PROTOCOL_CODECS } from '#providers';
import { chatStyle } from './chat/chat-style.js';
import { carriedProof } from './gemini/carried-reasoning.js';
import { geminiEventStyle } from './gemini/gemini-style.js';
import { messagesStyle } from './messages/messages-style.js';
import { responsesStyle } from './responses/responses-style.js';
import { CHAT_EXAMPLES } from './testing/chat-examples.js';
import { PROOF } from './testing/reasoning-examples.js';
import type { Example } from './testing/translation-example.js';
import { TRANSLATION_EXAMPLES } from './testing/translation-examples.js';
import type { TextStyleCodec } from './text-style-codec.js';
import { ASKED_PROTOCOLS, type Translation, TRANSLATED_FEATURES } from './testing/translations.js';

type Protocol = (typeof ASKED_PROTOCOLS)[number];

/** A style with the class that checks its bodies and the least it must say. */
interface Said {
  readonly codec: TextStyleCodec<never>;
  readonly type: abstract new () => object;
  readonly least: JsonObject;
}

const STYLES: Partial<Record<TextStyle, Said>> = {
  responses: { codec: responsesStyle, type: ResponsesRequest, least: { model: 'm', input: 'x' } },
  messages: {
    codec: messagesStyle,
    type: MessagesRequest,
    least: { model: 'm', messages: [{ role: 'user', content: 'x' }] },
  },
  chat: {
    codec: chatStyle,
    type: ChatRequest,
    least: { model: 'm', messages: [{ role: 'user', content: 'x' }] },
  },
  gemini: {
    codec: geminiEventStyle,
    type: GeminiRequest,
    least: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
  },
};

const EXAMPLES: Readonly<Record<string, Partial<Record<TextStyle, Example>>>> = Object.fromEntries(
  [...new Set([...Object.keys(TRANSLATION_EXAMPLES), ...Object.keys(CHAT_EXAMPLES)])].map((name) => {
    const chat = CHAT_EXAMPLES[name];
    return [name, { ...TRANSLATION_EXAMPLES[name], ...(chat && { chat }) }];
  }),
);

/** The body that the upstream is sent, as its protocol writes it. */
function written(style: TextStyle, body: JsonObject, protocol: Protocol, stream: boolean): string {
  const said = STYLES[style];
  if (!said) throw new Error(`the ${style} style has no examples`);
  expect(checkBody(said.type, body)).toEqual([]);
  const request = said.codec.read(body as never, 'm', stream);
  return JSON.stringify(PROTOCOL_CODECS[protocol].write(request, 'm', {}));
}

/** What stands in a body at the place that a refusal names: `messages[0].content`. */
const valueAt = (body: JsonObject, param: string): unknown =>
  param
    .split(/[.[\]]+/)
    .filter((name) => name !== '')
    .reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], body);

/** A refusal names a field that the caller sent; anything else that is thrown fails the test. */
function outcome(without: string, body: JsonObject, write: () => string): Translation {
  try {
    return write() === without ? 'hint' : 'ok';
  } catch (error) {
    const isRefusal = error instanceof GatewayError && error.code === 'unsupported_parameter';
    if (isRefusal && error.param && valueAt(body, error.param) !== undefined) return 'refused';
    throw error;
  }
}

/** A proof of the vendor that is asked. One protocol's only marks the place of its reasoning. */
const proofOf = (protocol: Protocol): string => (protocol === 'chat' ? 'chat:reasoning_content' : `${protocol}:proof`);

/** The content-generation style keeps a thought's text in the proof on the call. */
function ownProof(body: JsonObject, style: TextStyle, protocol: Protocol): JsonObject {
  const proof = proofOf(protocol);
  const sent = style === 'gemini' ? carriedProof([{ text: 'deep', signature: proof }]) : proof;
  return JSON.parse(JSON.stringify(body).replaceAll(PROOF, sent ?? '')) as JsonObject;
}

const CELLS = TRANSLATED_FEATURES.flatMap(({ name, by }) =>
  Object.entries(by).flatMap(([style, cells]) =>
    ASKED_PROTOCOLS.filter((protocol) => cells[protocol] !== 'own').map(
      (protocol) => [name, style as TextStyle, protocol, cells[protocol]] as const,
    ),
  ),
);

describe('Each feature is translated as the table says, whole and streamed', () => {
  it.each(CELLS)('%s, in the %s style over %s: %s', (name, style, protocol, expected) => {
    const example = EXAMPLES[name]?.[style];
    if (!example) throw new Error('there is no example of it');
    const given = { ...STYLES[style]?.least, ...example.given };
    for (const stream of [false, true]) {
      const without = written(style, given, protocol, stream);
      const body = ownProof({ ...given, ...example.added }, style, protocol);
      expect(outcome(without, body, () => written(style, body, protocol, stream))).toBe(expected);
    }
  });
});

/** What is no feature: the frame of a request, and other names of fields that an example has. */
const NO_FEATURES: Readonly<Record<TextStyle, string>> = {
  responses: 'model stream previous_response_id background conversation prompt max_tokens max_completion_tokens user',
  messages: 'model stream output_format mcp_servers',
  chat: `model stream stream_options max_tokens safety_identifier thinking thinking_budget random_seed
    guided_json guided_regex guided_grammar structured_outputs bad_words stop_token_ids min_tokens ignore_eos
    include_stop_str_in_output`,
  gemini: 'model candidateCount responseJsonSchema responseFormat',
};

it.each(Object.keys(STYLES) as TextStyle[])(
  'The table speaks of every field that may pass in the %s style',
  (style) => {
    const shown = new Set(
      Object.values(EXAMPLES).flatMap(({ [style]: example }) => {
        const { generationConfig = {}, ...fields } = example?.added ?? {};
        return [...Object.keys(fields), ...Object.keys(generationConfig as JsonObject), 'generationConfig'];
      }),
    );
    const passing = [...PRICED[style].fields, ...(style === 'gemini' ? PRICED_CONFIG.fields : [])];
    expect(passing.filter((field) => !shown.has(field)).toSorted()).toEqual(NO_FEATURES[style].split(/\s+/).toSorted());
  },
);

it('The table lists every feature with an example, for every style', () => {
  const listed = TRANSLATED_FEATURES.map(({ name, by }) => [name, Object.keys(by).toSorted()]);
  const shown = Object.entries(EXAMPLES).map(([name, by]) => [name, Object.keys(by).toSorted()]);
  expect(shown).toEqual(listed);
});
