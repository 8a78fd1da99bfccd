import type { UpstreamRefusal } from './upstream-refusal.js';

/** How the sentences of servers begin that a conversation is too long for. */
const TOO_LONG = [
  'prompt is too long',
  'prompt exceeds max length',
  String.raw`prompt contains \d+ tokens`,
  'input is too long for',
  'input length and `max_tokens` exceed context limit',
  'the input token count',
  String.raw`the input \(\d+ tokens\) is longer than`,
  "this (model|endpoint)'s maximum (context|prompt) length",
  'the request exceeds the available context size',
  'your (input|request) exceed(s|ed) (the context window|model token limit)',
  'requested token count exceeds',
  'invalid params, context window exceeds limit',
  '`inputs` tokens \\+ `max_new_tokens` must be',
  'range of input length should be',
  'trying to keep the first',
  'the number of tokens to keep from the initial prompt is greater',
  'prompt too long; exceeded',
  String.raw`you passed \d+ input tokens and requested`,
];

/** What servers put in front of such a sentence. */
const IN_FRONT = [
  'invalid request: ',
  String.raw`<\d+> [\w.]+: `,
  'input validation error: ',
  'unable to submit request because ',
];

/** Words for machines of single servers, by the word that clients know. */
const STANDARD_CODES: readonly (readonly [RegExp, string])[] = [
  [/^exceed_context_size_error$/i, 'context_length_exceeded'],
];

const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^(?:${IN_FRONT.join('|')})?(?:${TOO_LONG.join('|')})`, 'i'), 'context_length_exceeded'],
  [/^Output blocked by content filtering policy/i, 'content_filter'],
];

/** Words for machines that say nothing but the status: a sentence says more. */
const ANY_MISTAKE = /^(invalid_(request|parameter|argument)(_error)?|InvalidParameter|bad_?request(_error)?)$/i;

/** The word that agents act on: the upstream's own, or the one that its sentence stands for. */
export function publicCode({ code, reasons, message = '' }: UpstreamRefusal): string | undefined {
  const meant = STANDARD_CODES.find(([pattern]) => reasons.some((reason) => pattern.test(reason)))?.[1];
  const said = SENTENCES.find(([pattern]) => pattern.test(message))?.[1];
  const own = code !== undefined && !ANY_MISTAKE.test(code) ? code : undefined;
  return meant ?? own ?? said ?? code;
}
