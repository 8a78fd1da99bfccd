import type { JsonObject } from '#contracts';
import type { Attack, Outcome } from './attack.js';
import { send, type Style, STYLE_NAMES, textRequest } from './client.js';
import { PLAIN, type Plan } from './hostile-vendor.js';
import type { Protocol } from './wire-formats.js';

/** A vendor that answers as some do, and what its caller must get all the same, for its price. */
interface Strangeness {
  readonly name: string;
  readonly protocol: Protocol;
  readonly plan: Plan;
  /** What stands in the answer, in whatever style. */
  readonly says: string;
  /** Of all styles unless said. */
  readonly styles?: readonly Style[];
  readonly asks?: JsonObject;
}

const WORDS = 'forty two';
const data = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
const named = (body: { readonly type: string } & JsonObject): string => `event: ${body.type}\n${data(body)}`;

const chunk = (choices: readonly object[], usage?: object): string =>
  data({ id: 'c_1', object: 'chat.completion.chunk', created: 1, model: 'vendor', choices, ...(usage && { usage }) });
const CHAT_USAGE = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 };
const withoutReason = (delta: object): string =>
  [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: null }], CHAT_USAGE),
    'data: [DONE]\n\n',
  ].join('');

const CALL = { id: 'call_1', type: 'function', function: { name: 'weigh', arguments: '{"word":"lighthouse"}' } };
const WEIGH = { type: 'object', properties: { word: { type: 'string' } } };
/** The same tool as each style spells it. */
const TOOLS: Readonly<Record<Style, JsonObject>> = {
  responses: { tools: [{ type: 'function', name: 'weigh', parameters: WEIGH }] },
  messages: { tools: [{ name: 'weigh', input_schema: WEIGH }] },
  chat: { tools: [{ type: 'function', function: { name: 'weigh', parameters: WEIGH } }] },
  gemini: { tools: [{ functionDeclarations: [{ name: 'weigh', parameters: WEIGH }] }] },
};

const EMPTY = { id: 'resp_1', object: 'response', created_at: 1, model: 'vendor', output: [] };
const RESPONSES_USAGE = { input_tokens: 20, output_tokens: 8, total_tokens: 28 };
const responses = (item: JsonObject, done: JsonObject & { readonly type: string }): string =>
  [
    named({ type: 'response.created', response: { ...EMPTY, status: 'in_progress' } }),
    named({ type: 'response.output_item.added', output_index: 0, item }),
    named({ item_id: 'item_1', output_index: 0, content_index: 0, ...done }),
    named({ type: 'response.completed', response: { ...EMPTY, status: 'completed', usage: RESPONSES_USAGE } }),
  ].join('');

/** Of another account of the vendor, or cut by a client. */
const FOREIGN = { type: 'thinking', thinking: 'It is', signature: 'Zm9yZWlnbg==' };
const refusesProofs: Plan = {
  ...PLAIN,
  refuse: (body) =>
    body.includes('"signature"')
      ? {
          status: 400,
          body: {
            type: 'error',
            error: {
              type: 'invalid_request_error',
              message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
            },
          },
        }
      : undefined,
};

/** What vendors count apart that has no price here: sound, and tools that they run, as each protocol says it. */
const COUNTED_APART: Readonly<Record<Protocol, JsonObject>> = {
  responses: {
    input_tokens_details: { cached_tokens: 0, audio_tokens: 15 },
    output_tokens_details: { reasoning_tokens: 0, audio_tokens: 5 },
  },
  messages: { server_tool_use: { web_search_requests: 3, code_execution_requests: 2 } },
  chat: {
    prompt_tokens_details: { audio_tokens: 15 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 5 },
    num_sources_used: 3,
  },
  gemini: {
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 5 },
      { modality: 'AUDIO', tokenCount: 15 },
    ],
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
  },
};

const countsApart = (protocol: Protocol): Strangeness => ({
  name: `units that have no price, over ${protocol}`,
  protocol,
  plan: { ...PLAIN, count: { ...PLAIN.count, beside: COUNTED_APART[protocol] } },
  says: WORDS,
});

const STRANGENESSES: readonly Strangeness[] = [
  {
    name: 'no finish reason before [DONE]',
    protocol: 'chat',
    plan: { ...PLAIN, stream: withoutReason({ role: 'assistant', content: WORDS }) },
    says: WORDS,
  },
  {
    name: 'a call, and no finish reason before [DONE]',
    protocol: 'chat',
    plan: { ...PLAIN, stream: withoutReason({ role: 'assistant', tool_calls: [{ index: 0, ...CALL }] }) },
    says: 'lighthouse',
  },
  {
    name: 'words only when they are done',
    protocol: 'responses',
    plan: {
      ...PLAIN,
      stream: responses(
        { id: 'item_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
        { type: 'response.output_text.done', text: WORDS },
      ),
    },
    says: WORDS,
  },
  {
    name: 'arguments only when they are done',
    protocol: 'responses',
    plan: {
      ...PLAIN,
      stream: responses(
        { id: 'item_1', type: 'function_call', status: 'in_progress', call_id: 'call_1', name: 'weigh', arguments: '' },
        { type: 'response.function_call_arguments.done', arguments: CALL.function.arguments },
      ),
    },
    says: 'lighthouse',
  },
  {
    name: 'a refusal of a proof that it never gave',
    protocol: 'messages',
    plan: refusesProofs,
    says: WORDS,
    styles: ['messages'],
    asks: {
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      max_tokens: 2_000,
      messages: [
        { role: 'user', content: 'What is six times seven?' },
        { role: 'assistant', content: [FOREIGN, { type: 'text', text: 'A number.' }] },
        { role: 'user', content: 'Which one?' },
      ],
    },
  },
  ...(Object.keys(COUNTED_APART) as Protocol[]).map(countsApart),
];

const strange = ({ name, protocol, plan, says, styles = STYLE_NAMES, asks }: Strangeness): Attack => ({
  name: `vendor answers with ${name}`,
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    const breaches: string[] = [];
    let [chargedMicros, dueMicros] = [0n, 0n];
    for (const style of styles) {
      const request = textRequest(style, protocol, true, asks ?? TOOLS[style]);
      vendor.plan = PLAIN;
      const [plain, served] = [await tenant('5'), await tenant('5')];
      await send(target.url, plain.key, textRequest(style, protocol, true));
      vendor.plan = plan;
      const { status, text } = await send(target.url, served.key, request);
      vendor.plan = PLAIN;
      if (status !== 200 || !text.includes(says)) breaches.push(`${style}: ${status} ${text.slice(0, 300)}`);
      const [due, charged] = [await target.chargedMicros(plain), await target.chargedMicros(served)];
      if (charged !== due) breaches.push(`${style}: charged ${charged} of ${due} micros`);
      chargedMicros += charged;
      dueMicros += due;
    }
    return { breaches, bill: { chargedMicros, dueMicros } };
  },
});

export const STRANGE_VENDORS: readonly Attack[] = STRANGENESSES.map(strange);
