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
  feature('system prompt', everywhere('ok'), 'Several are sent as one.'),
  feature(
    'system message in the middle',
    { responses: 'ok', messages: 'ok', chat: 'ok' },
    'Stays there over chat (`translation.system_messages`) and responses; elsewhere it goes to the front.',
  ),
  feature(
    'system prompt alone',
    { responses: 'ok', messages: 'ok', chat: 'ok' },
    'Its last words are what is answered.',
  ),
  feature('system prompt that holds more than words', everywhere('refused')),
  feature(
    'conversation that the model begins',
    everywhere('ok'),
    'Where the user must speak first, a user turn of one dot stands in front.',
  ),
  feature('several texts and images in one message', everywhere('ok')),
  feature('image by URL', everywhere('ok')),
  feature('image inline', everywhere('ok')),
  feature('image of a kind that one vendor alone reads (HEIC)', { gemini: ['ok', 'ok', 'refused'] }),
  feature('image by file id', { responses: 'refused', messages: 'refused' }),
  feature('PDF inline', everywhere('ok')),
  feature('PDF by URL', {
    responses: ['refused', 'ok', 'ok'],
    messages: ['refused', 'ok', 'ok'],
    gemini: ['refused', 'ok', 'ok'],
  }),
  feature('text file', everywhere('ok')),
  feature('document title and context', { messages: 'ok' }, 'They stand in front of the text.'),
  feature('document of content blocks', { messages: 'ok' }, 'They stand as they are behind its title and context.'),
  feature('context of a PDF', { messages: 'ok' }, 'It stands in front of the file.'),
  feature('name of a file', {
    responses: ['ok', 'ok', 'hint'],
    messages: ['ok', 'ok', 'hint'],
    chat: ['ok', 'ok', 'hint'],
  }),
  feature('citing of documents', { messages: 'refused' }),
  feature('sound', { responses: 'refused', gemini: 'refused', chat: ['refused', 'refused', 'ok'] }),
  feature('video, or a link that does not say what it leads to', { gemini: 'refused' }),
  feature(
    'functions',
    everywhere('ok'),
    'A name that the vendor refuses is replaced; calls come back under the original name. Arguments that are put together of several schemas (`anyOf`, `oneOf`, `allOf`, `$ref` at the root) become one object whose description says which fields go together; arguments that are no object are refused. Words of earlier drafts are said in those of the current one; over gemini what a schema refers to stands where it is meant, and rules that the vendor does not keep to (`pattern`, `not`, …) stand in descriptions too.',
  ),
  feature(
    'strict functions',
    { responses: ['ok', 'hint', 'hint'], messages: ['ok', 'ok', 'hint'], gemini: 'hint', chat: ['ok', 'hint', 'hint'] },
    'Left out where a field may be absent, which chat and responses vendors refuse of a strict function.',
  ),
  feature('examples, deferral and further marks of functions', { responses: 'hint', messages: 'hint', gemini: 'hint' }),
  feature('no call, any call, or a call of one function', everywhere('ok')),
  feature('call that must be made where there is nothing to call', everywhere('refused'), 'Vendors refuse it as well.'),
  feature('call of a function that is not among the tools', everywhere('refused')),
  feature('some of the functions', { responses: 'ok', gemini: 'ok', chat: 'ok' }),
  feature('one call at a time', {
    responses: ['ok', 'ok', 'hint'],
    messages: ['ok', 'ok', 'hint'],
    chat: ['ok', 'ok', 'hint'],
  }),
  feature(
    'free-form tools and namespaces',
    { responses: 'ok', chat: 'ok' },
    'Sent as functions; calls come back in their original form.',
  ),
  feature('one free-form tool that must be called', { responses: 'ok', chat: 'ok' }),
  feature(
    'tool that the vendor runs, offered beside others',
    everywhere('hint'),
    '`code_interpreter` and its like: left out beside tools of the caller, and named in `x-gateway-tools-left-out`; 400 alone, or with `translation.lacking_tools: refuse`. Searches and servers of tools (MCP) are run by the gateway.',
  ),
  feature('tool that the vendor runs, insisted on', { responses: 'refused', messages: 'refused', chat: 'refused' }),
  feature('tools that a conversation adds or takes away', { responses: 'refused', messages: 'refused' }),
  feature(
    'calls and results of earlier turns',
    everywhere('ok'),
    'Arguments that are no JSON object stand in the field `rawInvalidInput` where a vendor takes objects alone.',
  ),
  feature('calls of free-form tools in earlier turns', { responses: 'ok', chat: 'ok' }),
  feature('image in a result', everywhere('ok')),
  feature(
    'tools that a result names',
    { messages: 'ok' },
    'In words: tools whose loading is deferred are offered from the beginning.',
  ),
  feature('file in a result', everywhere('ok'), 'Over chat and gemini it stands behind the result.'),
  feature('search results', { messages: 'ok' }, 'Their citing is refused.'),
  feature(
    'result of a function that failed',
    { messages: 'ok', gemini: 'ok' },
    'Begins with `Error:` where nothing else can say it.',
  ),
  feature('searches and calls of servers of tools (MCP) in earlier turns', { responses: 'ok', messages: 'ok' }),
  feature('results and calls of other tools that the vendor ran', {
    responses: 'refused',
    messages: 'refused',
    gemini: 'refused',
  }),
  feature(
    'reasoning that the same vendor proved',
    everywhere('ok'),
    'Also where the client kept only the proof of a call.',
  ),
  feature('reasoning that another vendor proved', everywhere('hint')),
  feature('NUL and halves of characters', everywhere('ok'), 'They become U+FFFD.'),
  feature(
    'JSON by a schema',
    everywhere('ok'),
    'Over chat and responses, whose vendors answer with one object or not at all, lists, choices and plain values are asked for as the field of one and taken out of it again, streamed too. Over messages every object is closed, bounds stand in descriptions, and what cannot be enforced (objects of any keys, schemas that hold themselves) is asked for in words.',
  ),
  feature('description of the answer that a schema is for', { responses: 'ok', chat: 'ok' }),
  feature(
    'any JSON',
    { responses: 'ok', gemini: 'ok', chat: 'ok' },
    'Asked for in words where there is no switch, and over chat and responses where no message has the word JSON, which vendors insist on.',
  ),
  feature('one word of a list', { gemini: 'refused' }),
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
    'Left out, as are top_p and top_k, where a model is known to refuse it (`translation.sampling`).',
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
    'effort or budget of reasoning',
    everywhere('ok'),
    'Over messages a budget or an effort, whichever the model takes (`translation.thinking`).',
  ),
  feature(
    'no reasoning',
    {
      responses: ['hint', 'hint', 'ok'],
      messages: ['hint', 'hint', 'ok'],
      gemini: ['hint', 'hint', 'hint'],
      chat: ['ok', 'hint', 'ok'],
    },
    'None is asked for. Many models refuse a field for it: `translation.no_reasoning` says whether it is sent.',
  ),
  feature('reasoning as the model sees fit', { messages: ['hint', 'ok', 'ok'], chat: 'ok' }),
  feature('level of reasoning', { messages: 'ok', gemini: 'ok', chat: 'ok' }),
  feature('dearer way of reasoning', { responses: 'refused' }),
  feature('odds of words', { responses: 'refused', gemini: 'refused', chat: 'refused' }),
  feature('answer in images or sound', { gemini: 'refused', chat: 'refused' }),
  feature('voice, and shape of images', { gemini: 'refused' }),
  feature('cache made elsewhere, container', { messages: 'refused', gemini: 'refused' }),
  feature('name of the end user', {
    responses: ['ok', 'ok', 'hint'],
    messages: ['ok', 'ok', 'hint'],
    chat: ['ok', 'ok', 'hint'],
  }),
  feature(
    'marks for the prompt cache',
    { responses: 'hint', messages: 'hint', chat: 'hint' },
    'Upstreams of the messages protocol are sent marks of our own. A cache that is kept longer than at the usual price (`ttl`) is refused over the own interface, unless the upstream allows it.',
  ),
  feature('why the prompt cache was missed', { messages: 'hint' }),
  feature(
    'word to the billing of its vendor',
    { messages: 'hint' },
    'The line `x-anthropic-billing-header` of Claude Code.',
  ),
  feature('key of the prompt cache', { responses: 'hint', chat: ['ok', 'hint', 'hint'] }),
  feature('storing, and how long a prompt cache is kept', { responses: 'hint', chat: 'hint' }),
  feature('service tier at the usual price', everywhere('hint')),
  feature(
    'service tier that the account of the vendor decides',
    { responses: 'hint', messages: 'hint', chat: 'hint' },
    'Left out over the own interface as well, unless the upstream allows it (`allow.service_tiers`).',
  ),
  feature('metadata, labels', { responses: 'hint', gemini: 'hint', chat: 'hint' }),
  feature(
    'verbosity',
    { responses: 'hint', chat: ['ok', 'hint', 'hint'] },
    'Vendors of the chat protocol refuse fields that they do not know: this one and the key of the cache are not for them.',
  ),
  feature(
    'truncation, context management',
    { responses: 'hint', messages: 'hint' },
    'A conversation that is too long is refused by the vendor.',
  ),
  feature('summary of the conversation that the vendor makes on demand', { messages: 'refused' }),
  feature('moderation by the vendor', { responses: 'refused', chat: 'refused' }),
  feature('most calls of tools that the vendor runs', { responses: 'hint' }),
  feature('thresholds of safety filters', { gemini: 'hint' }),
  feature('phase of a message', { responses: 'hint' }),
  feature('place of the caller', { gemini: 'hint' }),
  feature('resolution of media', { responses: ['ok', 'hint', 'hint'], gemini: 'hint', chat: ['ok', 'hint', 'hint'] }),
  feature(
    'reply that is begun',
    { messages: 'ok', gemini: 'ok', chat: 'ok' },
    'Sent as the last turn; whether the model goes on with it or answers it is the vendor’s.',
  ),
  feature('whether reasoning is shown', {
    responses: ['hint', 'hint', 'ok'],
    messages: ['hint', 'ok', 'ok'],
    gemini: ['hint', 'ok', 'hint'],
    chat: 'hint',
  }),
  feature('budget of tokens that a model is told of', { messages: 'hint' }),
  feature('further contents of a reply', { responses: 'hint', gemini: 'hint' }),
  feature('citations of earlier replies', { responses: 'hint', messages: 'hint', chat: 'hint' }),
  feature('conversation that is kept for later requests', { messages: 'hint' }, 'Over the own interface as well.'),
  feature('name of who speaks', { chat: 'hint' }),
  feature('several replies at once', { chat: 'refused' }),
  feature('bias of tokens', { chat: 'refused' }),
  feature(
    'legacy functions',
    { chat: 'ok' },
    '`functions` and `function_call`; the reply has the same form, with one call at most.',
  ),
  feature('calls and results of legacy functions', { chat: 'ok' }),
  feature('legacy functions beside tools', { chat: 'refused' }),
  feature('search of the web by an option', { chat: 'refused' }),
  feature('forms, lengths and words that a server enforces', { chat: 'refused' }),
  feature('further ways of sampling', { chat: 'hint' }),
  feature('switches of one vendor', { chat: 'hint' }),
  feature('predicted answer', { chat: 'refused' }),
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
