import type { TextProtocol, TextStyle } from '#contracts';

/** What an upstream may be asked in, the sandbox aside. */
export const ASKED_PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const satisfies readonly TextProtocol[];
type AskedProtocol = (typeof ASKED_PROTOCOLS)[number];

/**
 * The translation of a feature: into the words of the protocol, refused with 400, left out as a hint that changes no meaning,
 * or passed through as it is to the style's own protocol.
 */
export type Translation = 'ok' | 'refused' | 'hint' | 'own';

/** One thing that a request can say. */
export interface TranslatedFeature {
  readonly name: string;
  /** By the styles that can say it, and the protocol it is to be said in. */
  readonly by: Readonly<Partial<Record<TextStyle, Readonly<Record<AskedProtocol, Translation>>>>>;
  readonly note?: string;
}

type Others = readonly [Translation, Translation, Translation];

/** The outcomes over the protocols that are not the style's own, in the order of `ASKED_PROTOCOLS`. */
function over(style: TextStyle, outcomes: Others | Translation): Record<AskedProtocol, Translation> {
  const rest = typeof outcomes === 'string' ? [outcomes, outcomes, outcomes] : [...outcomes];
  const cells = ASKED_PROTOCOLS.map((protocol) => [protocol, protocol === style ? 'own' : (rest.shift() ?? 'ok')]);
  return Object.fromEntries(cells) as Record<AskedProtocol, Translation>;
}

type Row = Partial<Record<TextStyle, Others | Translation>>;

function feature(name: string, row: Row, note?: string): TranslatedFeature {
  const styles = Object.entries(row) as [TextStyle, Others | Translation][];
  const by = Object.fromEntries(styles.map(([style, outcomes]) => [style, over(style, outcomes)]));
  return { name, by, ...(note !== undefined && { note }) };
}

const everywhere = (outcome: Translation): Row => ({
  responses: outcome,
  messages: outcome,
  gemini: outcome,
  chat: outcome,
});

/** Every feature of the request styles, and its translation for an upstream of another interface. */
export const TRANSLATED_FEATURES: readonly TranslatedFeature[] = [
  feature('system prompt', everywhere('ok'), 'Several are joined.'),
  feature(
    'system message in the middle',
    { responses: 'ok', messages: 'ok', chat: 'ok' },
    'Stays there over chat and responses, and for models of the messages protocol that take it (`system_messages` among the [traits](#what-models-take)); elsewhere it moves to the front.',
  ),
  feature(
    'system prompt alone',
    { responses: 'ok', messages: 'ok', chat: 'ok' },
    'The model replies to its last part.',
  ),
  feature('system prompt with images or files', everywhere('refused')),
  feature(
    'conversation that begins with a model turn',
    everywhere('ok'),
    'Where the user must be first, a user turn with a single dot is inserted before it.',
  ),
  feature('several texts and images in one message', everywhere('ok')),
  feature('image by URL', everywhere('ok')),
  feature('image inline', everywhere('ok')),
  feature('image format of a single vendor (HEIC)', { gemini: ['ok', 'ok', 'refused'] }),
  feature('image by file id', { responses: 'refused', messages: 'refused' }),
  feature('PDF inline', everywhere('ok')),
  feature('PDF by URL', {
    responses: ['refused', 'ok', 'ok'],
    messages: ['refused', 'ok', 'ok'],
    gemini: ['refused', 'ok', 'ok'],
  }),
  feature('text file', everywhere('ok')),
  feature('document title and context', { messages: 'ok' }, 'Sent before the text.'),
  feature('document of content blocks', { messages: 'ok' }, 'Sent unchanged after its title and context.'),
  feature('context of a PDF', { messages: 'ok' }, 'Sent before the file.'),
  feature('name of a file', {
    responses: ['ok', 'ok', 'hint'],
    messages: ['ok', 'ok', 'hint'],
    chat: ['ok', 'ok', 'hint'],
  }),
  feature('citations of documents', { messages: 'refused' }),
  feature('audio', { responses: 'refused', gemini: 'refused', chat: ['refused', 'refused', 'ok'] }),
  feature('video, or a link without a media type', { gemini: 'refused' }),
  feature(
    'functions',
    everywhere('ok'),
    'A name that the vendor refuses is replaced; calls come back under the original name. Arguments combined from several schemas (`anyOf`, `oneOf`, `allOf`, `$ref` at the root) become one object whose description says which fields go together; arguments that are not an object are refused. Keywords of earlier JSON Schema drafts are rewritten to the current one; over gemini references are inlined, and rules that the vendor ignores (`pattern`, `not`, …) are repeated in descriptions.',
  ),
  feature(
    'strict functions',
    { responses: ['ok', 'hint', 'hint'], messages: ['ok', 'ok', 'hint'], gemini: 'hint', chat: ['ok', 'hint', 'hint'] },
    'Left out if a field is optional: chat and responses vendors refuse that in a strict function.',
  ),
  feature('examples, deferred loading and other options of functions', {
    responses: 'hint',
    messages: 'hint',
    gemini: 'hint',
  }),
  feature(
    'tool choice: none, any, or one function',
    everywhere('ok'),
    'A demand for a call is refused where a model does not take it (`forced_tools`).',
  ),
  feature('required tool choice without tools', everywhere('refused'), 'Vendors refuse it as well.'),
  feature('tool choice of an unknown function', everywhere('refused')),
  feature('tool choice among a subset', { responses: 'ok', gemini: 'ok', chat: 'ok' }),
  feature('no parallel tool calls', {
    responses: ['ok', 'ok', 'hint'],
    messages: ['ok', 'ok', 'hint'],
    chat: ['ok', 'ok', 'hint'],
  }),
  feature(
    'free-form tools and namespaces',
    { responses: 'ok', chat: 'ok' },
    'Sent as functions; calls come back in their original form.',
  ),
  feature('tool choice of a free-form tool', { responses: 'ok', chat: 'ok' }),
  feature(
    'hosted tool, offered beside other tools',
    everywhere('hint'),
    '`code_interpreter` and the like: left out beside tools of the caller, and named in `x-gateway-tools-left-out`; 400 if it is the only tool, or with `translation.lacking_tools: refuse`. Searches and MCP servers are run by the gateway.',
  ),
  feature('hosted tool, required', { responses: 'refused', messages: 'refused', chat: 'refused' }),
  feature('tools added or removed in mid-conversation', { responses: 'refused', messages: 'refused' }),
  feature(
    'calls and results of earlier turns',
    everywhere('ok'),
    'Arguments that are not a JSON object are sent in the field `rawInvalidInput` to vendors that accept only objects.',
  ),
  feature('calls of free-form tools in earlier turns', { responses: 'ok', chat: 'ok' }),
  feature('image in a tool result', everywhere('ok')),
  feature(
    'tool references in a result',
    { messages: 'ok' },
    'As text; tools with deferred loading are offered from the start.',
  ),
  feature('file in a tool result', everywhere('ok'), 'Over chat and gemini it follows the result.'),
  feature('search results', { messages: 'ok' }, 'Requesting citations of them is refused.'),
  feature(
    'failed function result',
    { messages: 'ok', gemini: 'ok' },
    'Begins with `Error:` where the protocol has no field for it.',
  ),
  feature('searches and MCP calls in earlier turns', { responses: 'ok', messages: 'ok' }),
  feature('calls and results of other hosted tools', {
    responses: 'refused',
    messages: 'refused',
    gemini: 'refused',
  }),
  feature(
    'reasoning signed by the same vendor',
    everywhere('ok'),
    'Also where the client kept only the signature of a call.',
  ),
  feature('reasoning signed by another vendor', everywhere('hint')),
  feature('NUL and lone surrogates', everywhere('ok'), 'They become U+FFFD.'),
  feature(
    'JSON schema of the reply',
    everywhere('ok'),
    'Chat and responses vendors accept objects only: lists, choices and plain values are wrapped in an object and unwrapped in the reply, also while streaming. Over messages every object is closed (`additionalProperties: false`), bounds are moved into descriptions, and what cannot be enforced (objects with arbitrary keys, recursive schemas) is requested in the prompt.',
  ),
  feature('description of the JSON schema', { responses: 'ok', chat: 'ok' }),
  feature(
    'JSON mode without a schema',
    { responses: 'ok', gemini: 'ok', chat: 'ok' },
    'Requested in the prompt where there is no switch, and over chat and responses if no message has the word JSON, which vendors require.',
  ),
  feature('enum as the reply', { gemini: 'refused' }),
  feature('output limit', everywhere('ok'), 'Over responses at least 16 tokens, the lowest limit that it takes.'),
  feature('stop sequences', {
    responses: ['ok', 'ok', 'ok'],
    messages: ['ok', 'refused', 'ok'],
    gemini: ['ok', 'refused', 'ok'],
    chat: ['refused', 'ok', 'ok'],
  }),
  feature(
    'temperature up to 1',
    everywhere('ok'),
    'Left out, as are top_p and top_k, where a model is known to refuse it (`sampling`, `translation.sampling`).',
  ),
  feature('temperature over 1', {
    responses: ['ok', 'refused', 'ok'],
    gemini: ['ok', 'ok', 'refused'],
    chat: ['ok', 'refused', 'ok'],
  }),
  feature('top_p', everywhere('ok')),
  feature('top_k', { messages: ['hint', 'hint', 'ok'], gemini: ['hint', 'hint', 'ok'], chat: ['hint', 'ok', 'ok'] }),
  feature('seed', { gemini: ['ok', 'hint', 'hint'], chat: ['hint', 'hint', 'ok'] }),
  feature('penalties', {
    responses: ['ok', 'hint', 'ok'],
    gemini: ['ok', 'hint', 'hint'],
    chat: ['hint', 'hint', 'ok'],
  }),
  feature(
    'reasoning effort or budget',
    everywhere('ok'),
    'A budget, an effort or a level, whichever the model takes (`thinking`, `efforts`, `translation.thinking`).',
  ),
  feature(
    'no reasoning',
    {
      responses: ['hint', 'hint', 'ok'],
      messages: ['hint', 'hint', 'ok'],
      gemini: ['hint', 'hint', 'hint'],
      chat: ['ok', 'hint', 'ok'],
    },
    'No reasoning is requested. Many models refuse a field that disables it: `translation.no_reasoning` says whether it is sent.',
  ),
  feature('adaptive reasoning', { messages: ['hint', 'ok', 'ok'], chat: 'ok' }),
  feature('reasoning level', { messages: 'ok', gemini: 'ok', chat: 'ok' }),
  feature('reasoning mode at a higher price', { responses: 'refused' }),
  feature('logprobs', { responses: 'refused', gemini: 'refused', chat: 'refused' }),
  feature('image or audio output', { gemini: 'refused', chat: 'refused' }),
  feature('speech and image configuration', { gemini: 'refused' }),
  feature('cache made elsewhere, container', { messages: 'refused', gemini: 'refused' }),
  feature(
    'continuation of a long reply by its token',
    { gemini: 'refused' },
    'A reply of a gemini vendor that is to be continued (`CONTINUATION`) ends as cut off by the output limit in other styles, unless the header `x-gateway-continue` lets the gateway go on with it; so does a turn that a messages vendor paused (`pause_turn`).',
  ),
  feature('end user id', {
    responses: ['ok', 'ok', 'hint'],
    messages: ['ok', 'ok', 'hint'],
    chat: ['ok', 'ok', 'hint'],
  }),
  feature(
    'prompt cache breakpoints',
    { responses: 'hint', messages: 'hint', chat: 'hint' },
    'The gateway sets its own for upstreams of the messages protocol. A longer `ttl` at a higher price is refused over the same protocol, unless the upstream allows it.',
  ),
  feature('prompt cache diagnostics', { responses: 'hint', messages: 'hint' }),
  feature(
    'billing header in the prompt',
    { messages: 'hint' },
    'The line `x-anthropic-billing-header` of Claude Code.',
  ),
  feature('prompt cache key', { responses: 'hint', chat: ['ok', 'hint', 'hint'] }),
  feature('store, and prompt cache retention', { responses: 'hint', gemini: 'hint', chat: 'hint' }),
  feature('service tier at the usual price', everywhere('hint')),
  feature(
    'automatic service tier',
    { responses: 'hint', messages: 'hint', chat: 'hint' },
    'Left out over the same protocol too, unless the upstream allows it (`allow.service_tiers`).',
  ),
  feature('metadata, labels', { responses: 'hint', gemini: 'hint', chat: 'hint' }),
  feature(
    'verbosity',
    { responses: 'hint', chat: ['ok', 'hint', 'hint'] },
    'Chat vendors refuse unknown fields, so this and the prompt cache key are not sent to them.',
  ),
  feature(
    'truncation, context management',
    { responses: 'hint', messages: 'hint' },
    'A conversation that is too long is refused by the vendor.',
  ),
  feature('compaction by the vendor on demand', { messages: 'refused' }),
  feature('moderation by the vendor', { responses: 'refused', chat: 'refused' }),
  feature('maximum number of hosted tool calls', { responses: 'hint' }),
  feature('safety settings', { gemini: 'hint' }),
  feature('phase of a message', { responses: 'hint' }),
  feature('location of the caller', { gemini: 'hint' }),
  feature('media resolution', { responses: ['ok', 'hint', 'hint'], gemini: 'hint', chat: ['ok', 'hint', 'hint'] }),
  feature(
    'prefilled reply',
    { messages: 'ok', gemini: 'ok', chat: 'ok' },
    'Sent as the last turn; whether the model continues or answers it depends on the vendor.',
  ),
  feature('whether reasoning is shown', {
    responses: ['hint', 'hint', 'ok'],
    messages: ['hint', 'ok', 'ok'],
    gemini: ['hint', 'ok', 'hint'],
    chat: 'hint',
  }),
  feature('token budget shown to the model', { messages: 'hint' }),
  feature('additional response contents (`include`)', { responses: 'hint', gemini: 'hint' }),
  feature('citations of earlier replies', { responses: 'hint', messages: 'hint', chat: 'hint' }),
  feature('stored conversation (thread)', { messages: 'hint' }, 'Over the same protocol too.'),
  feature('participant name', { chat: 'hint' }),
  feature('several replies at once', { chat: 'refused' }),
  feature('logit bias', { chat: 'refused' }),
  feature(
    'legacy functions',
    { chat: 'ok' },
    '`functions` and `function_call`; the reply has the same form, with one call at most.',
  ),
  feature('calls and results of legacy functions', { chat: 'ok' }),
  feature('legacy functions beside tools', { chat: 'refused' }),
  feature('web search as an option', { chat: 'refused' }),
  feature('guided decoding and length constraints of a server', { chat: 'refused' }),
  feature('other sampling parameters', { chat: 'hint' }),
  feature('vendor-specific switches', { chat: 'hint' }),
  feature('predicted output', { chat: 'refused' }),
];

const WORDS: Readonly<Record<Translation, string>> = { ok: 'ok', refused: '400', hint: 'left out', own: 'as it is' };

/** The table as a page of the documentation shows it. */
export function renderTranslations(features: readonly TranslatedFeature[]): string {
  const rows = features.flatMap(({ name, by, note }) =>
    Object.entries(by).map(([style, cells], place) => [
      place === 0 ? name : '',
      style,
      ...ASKED_PROTOCOLS.map((protocol) => WORDS[cells[protocol]]),
      place === 0 ? (note ?? '') : '',
    ]),
  );
  const head = ['Feature', 'Style', ...ASKED_PROTOCOLS.map((protocol) => `over ${protocol}`), ''];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
