import {
  type CallPart,
  type FunctionTool,
  type ImagePart,
  namedTools,
  type ReasoningPart,
  type ResultPart,
  type TextRequest,
  type UserPart,
} from '#contracts';
import { BufferSource, decodedBase64, inspectMedia } from '#media';
import { newCallId, offeredTools, wantsNoReasoning } from '../upstream/request-fields.js';
import { SchemaWork } from '../upstream/object-schema.js';
import { SchemaExample } from './schema-example.js';
import { citedAnswer, isSearch, questionIn, searchFor } from './searching.js';

/** Longer texts are no questions. In characters. */
const LONGEST_QUESTION = 1_000;

/** How much of a description says what a tool is for, in characters: its first sentence. */
const LONGEST_SENTENCE = 200;

/** A description of so few words is a name: one of them in the question is enough, of a longer one it takes two. */
const WORDS_OF_A_NAME = 6;

/** Stop words that do not tell what a question is about. */
const EMPTY_WORDS = new Set(
  'a about all an and any are as at be by call can could current do does fetch find for from function get give given has have how i if in into is it its list look lookup make me my now of on or out please query returns run set should show some tell that the their then there this to tool up use used user using want was what when where which who will with would you your'.split(
    ' ',
  ),
);

const ENDING = /(?<=\p{L}{3})(ing|ed|es|s)$/u;

/** The words of a text that say what it is about, without their endings; of scripts without blanks, pairs of characters. */
function subjectsOf(text: string): ReadonlySet<string> {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  const words = spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.flatMap((word) => (/\p{Script=Han}/u.test(word) ? pairsOf(word) : wordsOf(word))));
}

const wordsOf = (word: string): string[] => (EMPTY_WORDS.has(word) ? [] : [word.replace(ENDING, '')]);

const pairsOf = (word: string): string[] => {
  const characters = word.match(/./gu) ?? [];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};

const firstSentence = (text: string): string =>
  (/^.*?([.!?。](?=\s|$)|\n|$)/su.exec(text)?.[0] ?? '').slice(0, LONGEST_SENTENCE);

/**
 * The tools that a model would call for a question: those whose whole name stands in it in other words, or else the one
 * whose description has most in common with it.
 */
function toolsAnswering(question: string, tools: readonly FunctionTool[]): readonly FunctionTool[] {
  if (question.length > LONGEST_QUESTION) return [];
  const asked = subjectsOf(question);
  const named = tools.filter(({ name }) => {
    const subjects = subjectsOf(name);
    return subjects.size > 0 && [...subjects].every((subject) => asked.has(subject));
  });
  if (named.length > 0) return named;
  let [best, most]: [FunctionTool | undefined, number] = [undefined, 0];
  for (const tool of tools) {
    const subjects = [...subjectsOf(firstSentence(tool.description ?? ''))];
    const shared = subjects.filter((subject) => asked.has(subject));
    const isEnough = shared.length > 1 || (shared.length === 1 && subjects.length <= WORDS_OF_A_NAME);
    if (isEnough && shared.length > most) [best, most] = [tool, shared.length];
  }
  return best ? [best] : [];
}

/** The reply of the sandbox: reasoning first, then a text or calls. */
export interface SandboxScript {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly CallPart[];
}

/** How much of the caller's own words is said back, in characters. */
const MAX_QUOTED = 400;

const quoted = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);

/** The parts of the user's last turn; results and words that follow each other belong together. */
function lastUserParts(request: TextRequest): readonly UserPart[] {
  const { turns } = request;
  const last = turns.findLastIndex(({ role }) => role === 'user');
  let first = last;
  while (first > 0 && turns[first - 1]?.role === 'user') first -= 1;
  return turns.slice(Math.max(0, first), last + 1).flatMap((turn) => (turn.role === 'user' ? turn.parts : []));
}

/** How much of a prompt is read, in characters: what is looked for in it must not take long. */
const MAX_READ = 16 * 1024;

/** The beginning of several texts together. */
function beginning(texts: readonly string[]): string {
  let read = '';
  for (const text of texts) {
    if (read.length >= MAX_READ) break;
    read += `${read === '' ? '' : '\n'}${text.slice(0, MAX_READ)}`;
  }
  return read.slice(0, MAX_READ);
}

/** The words of the user's last turn, as far as they are read. */
export const lastUserText = (request: TextRequest): string =>
  beginning(lastUserParts(request).flatMap((part) => (part.type === 'text' ? [part.text] : [])));

/** What the user asks: the last words, behind what a program puts in front of them. */
const questionOf = (request: TextRequest): string =>
  lastUserParts(request).reduce((last, part) => (part.type === 'text' ? part.text : last), '');

/** Everything a caller can hide a test word in. */
export const wholePrompt = (request: TextRequest): string => beginning([...request.system, lastUserText(request)]);

/** A name in the prompt, for arguments that a schema leaves free: the last word with a capital, as in "in Paris?". */
function wordOf(prompt: string): string {
  return prompt.match(/(?<=\s)\p{Lu}[\p{L}-]+/gu)?.at(-1) ?? 'sandbox';
}

function callsFor(request: TextRequest, prompt: string): CallPart[] {
  const { toolChoice } = request;
  const offered = offeredTools(request, request.hostedTools);
  if (toolChoice.mode === 'none' || offered.length === 0) return [];
  const forced = toolChoice.mode === 'required' && toolChoice.names.length > 0;
  const allowed = forced ? namedTools(offered, toolChoice.names) : offered;
  const named = allowed.filter(({ name }) => prompt.includes(name));
  const chosen = named.length > 0 ? named : unnamed(allowed, request);
  const work = new SchemaWork();
  return chosen.slice(0, request.parallelToolCalls ? chosen.length : 1).map((tool) => ({
    type: 'call',
    id: newCallId(),
    name: tool.name,
    arguments: JSON.stringify(argumentsFor(tool, { request, prompt, work })),
  }));
}

const argumentsFor = (
  tool: FunctionTool,
  { request, prompt, work }: { request: TextRequest; prompt: string; work: SchemaWork },
): unknown =>
  isSearch(tool)
    ? { query: questionIn(request) }
    : new SchemaExample(tool.parameters ?? { type: 'object' }, wordOf(prompt), work).value();

/** Which tools are called where the prompt names none: those that answer it, or any when one must be. */
function unnamed(allowed: readonly FunctionTool[], request: TextRequest): readonly FunctionTool[] {
  const question = questionOf(request);
  const others = toolsAnswering(
    question,
    allowed.filter((tool) => !isSearch(tool)),
  );
  const answering = others.length === 0 && question !== '' ? searchFor(allowed) : others;
  return answering.length === 0 && request.toolChoice.mode === 'required' ? allowed.slice(0, 1) : answering;
}

async function describeImage({ source }: ImagePart): Promise<string> {
  if (source.kind === 'url') return `an image at ${quoted(source.url)}, which the sandbox does not fetch`;
  try {
    const header = await inspectMedia(new BufferSource(await decodedBase64(source.base64)));
    if (header.medium === 'image')
      return `a ${header.format.toUpperCase()} image of ${header.width} x ${header.height} pixels`;
  } catch {
    // Said below: what cannot be read is named as such.
  }
  return `a file declared as ${source.mediaType} that is no image the sandbox can read`;
}

function describeResult({ name, content, isError }: ResultPart): string {
  const text = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ');
  return `The tool ${name} ${isError ? 'failed with' : 'returned'}: ${quoted(text)}.`;
}

async function writeText(request: TextRequest, prompt: string): Promise<string> {
  const parts = lastUserParts(request);
  const results = parts.flatMap((part) => (part.type === 'result' ? [part] : []));
  const inResults = results.flatMap(({ content }) => content.filter((part) => part.type === 'image'));
  const images = [...parts.filter((part) => part.type === 'image'), ...inResults];
  const seen = await Promise.all(images.map(describeImage));
  const sentences = [
    'This is the sandbox writer, not a real model.',
    ...results.map((result) => citedAnswer(result, questionIn(request), quoted) ?? describeResult(result)),
    ...(seen.length > 0 ? [`I see ${seen.join(' and ')}.`] : []),
    ...(request.hostedTools.length > 0
      ? [`The sandbox does not run ${request.hostedTools.map(({ type }) => type).join(', ')}.`]
      : []),
    ...(prompt === '' ? [] : [`You wrote: ${quoted(prompt)}`]),
  ];
  const last = request.turns.at(-1);
  // The reply continues what the caller began to write for it.
  return last?.role === 'assistant' ? ` ${sentences.join(' ')}` : sentences.join(' ');
}

function writeJson({ format }: TextRequest, prompt: string): string {
  if (format.type !== 'json-schema') return JSON.stringify({ sandbox: true, prompt: quoted(prompt) });
  return JSON.stringify(new SchemaExample(format.schema, wordOf(prompt), new SchemaWork()).value());
}

const thinks = ({ reasoning }: TextRequest): boolean => reasoning !== undefined && !wantsNoReasoning(reasoning);

/** Writes the reply to a request. The same request always gets the same reply. */
export async function writeScript(request: TextRequest): Promise<SandboxScript> {
  const prompt = lastUserText(request);
  const answersResults = lastUserParts(request).some((part) => part.type === 'result');
  const calls = answersResults && request.toolChoice.mode !== 'required' ? [] : callsFor(request, prompt);
  const reasoning = thinks(request)
    ? `The user wrote ${prompt.length} characters. ${calls.length > 0 ? 'A tool is needed.' : 'A short answer will do.'}`
    : '';
  if (calls.length > 0) return { reasoning, text: '', calls };
  const text = request.format.type === 'text' ? await writeText(request, prompt) : writeJson(request, prompt);
  return { reasoning, text, calls };
}

/** The proof that goes with the sandbox's reasoning, so that clients have one to replay. */
export const SANDBOX_SIGNATURE: NonNullable<ReasoningPart['signature']> = 'sandbox:reasoning';
