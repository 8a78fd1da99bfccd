import { callsOf, pieces, VENDOR_USAGE, type VendorRequest, type VendorScript } from './vendor-script.js';

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[];
  readonly output?: string | readonly { readonly text?: string }[];
}

interface ResponsesBody {
  readonly input: string | readonly Item[];
  readonly tools?: readonly { readonly type: string; readonly name?: string }[];
  readonly tool_choice?: unknown;
  readonly stream?: boolean;
  readonly max_output_tokens?: number;
  readonly reasoning?: object;
  readonly text?: { readonly format?: { readonly type: string } };
}

export function readResponses(body: ResponsesBody): VendorRequest {
  const items: readonly Item[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  const users = items.filter(({ role }) => role === 'user');
  const parts = users.flatMap(({ content }) => (Array.isArray(content) ? [...content] : []));
  const { content } = users.at(-1) ?? {};
  const last = items.at(-1);
  return {
    text: typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join(''),
    images: parts.filter(({ type }) => type === 'input_image').length,
    toolNames: (body.tools ?? []).flatMap(({ name }) => (name === undefined ? [] : [name])),
    result: last?.type === 'function_call_output' ? textOf(last.output) : undefined,
    mustCall: body.tool_choice === 'required' || typeof body.tool_choice === 'object',
    stream: body.stream ?? false,
    thinks: body.reasoning !== undefined,
    json: body.text?.format !== undefined && body.text.format.type !== 'text',
    maxTokens: body.max_output_tokens,
  };
}

const textOf = (output: Item['output']): string =>
  typeof output === 'string' ? output : (output ?? []).map(({ text }) => text ?? '').join('');

const usage = {
  input_tokens: VENDOR_USAGE.input,
  input_tokens_details: { cached_tokens: VENDOR_USAGE.cached },
  output_tokens: VENDOR_USAGE.output,
  output_tokens_details: { reasoning_tokens: VENDOR_USAGE.reasoning },
  total_tokens: VENDOR_USAGE.input + VENDOR_USAGE.output,
};

function outputOf(script: VendorScript): object[] {
  const { serial, reasoning, text, call } = script;
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            id: `rs_v${serial}`,
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: reasoning }],
            encrypted_content: 'sealed',
          },
        ]),
    ...(call
      ? callsOf(script).map(({ id, name, args }, index) => ({
          id: `fc_v${serial}_${index}`,
          type: 'function_call',
          status: 'completed',
          call_id: id,
          name,
          arguments: JSON.stringify(args),
        }))
      : [
          {
            id: `msg_v${serial}`,
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
          },
        ]),
  ];
}

const RESPONSE = {
  object: 'response',
  created_at: 1_795_190_389,
  model: 'vendor-responses',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  store: true,
  temperature: 1,
  top_p: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  truncation: 'disabled',
  presence_penalty: 0,
  frequency_penalty: 0,
  user: null,
  metadata: {},
};

export function wholeResponse(script: VendorScript): object {
  return {
    id: `resp_v${script.serial}`,
    ...RESPONSE,
    ...(script.isCut
      ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
      : { status: 'completed', completed_at: 1_795_190_390 }),
    output: outputOf(script),
    usage,
  };
}

export function streamResponse(script: VendorScript): string[] {
  let sequence = 0;
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`;
  const starting = {
    id: `resp_v${script.serial}`,
    ...RESPONSE,
    status: 'in_progress',
    completed_at: null,
    output: [],
    usage: null,
  };
  const items = outputOf(script) as OutputItem[];
  return [
    event('response.created', { response: starting }),
    event('response.in_progress', { response: starting }),
    ...items.flatMap((item, index) => itemEvents(item, index, script, event)),
    event(script.isCut ? 'response.incomplete' : 'response.completed', { response: wholeResponse(script) }),
  ];
}

interface OutputItem {
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly arguments?: string;
}

function itemEvents(
  item: OutputItem,
  index: number,
  { reasoning = '', text }: VendorScript,
  event: (type: string, fields: object) => string,
): string[] {
  const place = { item_id: item.id, output_index: index };
  const empty =
    { message: { content: [] }, function_call: { arguments: '' }, reasoning: { summary: [] } }[item.type] ?? {};
  const added = event('response.output_item.added', {
    output_index: index,
    item: { ...item, ...empty, status: 'in_progress' },
  });
  const done = (): string => event('response.output_item.done', { output_index: index, item });
  if (item.type === 'function_call') {
    const { name, arguments: json = '' } = item;
    return [
      added,
      ...pieces(json).map((delta) => event('response.function_call_arguments.delta', { ...place, delta })),
      event('response.function_call_arguments.done', { ...place, name, arguments: json }),
      done(),
    ];
  }
  if (item.type === 'reasoning') {
    const part = { type: 'summary_text', text: reasoning };
    const summary = { ...place, summary_index: 0 };
    return [
      added,
      event('response.reasoning_summary_part.added', { ...summary, part: { ...part, text: '' } }),
      ...pieces(reasoning).map((delta) => event('response.reasoning_summary_text.delta', { ...summary, delta })),
      event('response.reasoning_summary_text.done', { ...summary, text: reasoning }),
      event('response.reasoning_summary_part.done', { ...summary, part }),
      done(),
    ];
  }
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const content = { ...place, content_index: 0 };
  return [
    added,
    event('response.content_part.added', { ...content, part: { ...part, text: '' } }),
    ...pieces(text).map((delta) => event('response.output_text.delta', { ...content, delta, logprobs: [] })),
    event('response.output_text.done', { ...content, text, logprobs: [] }),
    event('response.content_part.done', { ...content, part }),
    done(),
  ];
}
