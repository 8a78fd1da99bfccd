import { createHash } from 'node:crypto';
import {
  type FinishReason,
  type FunctionTool,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type ReplyBlock,
} from '#contracts';
import { parseBounded, parsedObject } from '#platform';

/** A tool whose input is a text and no JSON, as its style says it. */
export interface FreeFormTool {
  /** The name of the function that stands for it. */
  readonly name: string;
  readonly description: string | null | undefined;
  /** The grammar that its input is to match; undefined when it may be any text. */
  readonly grammar: { readonly syntax: string | null | undefined; readonly definition: string } | undefined;
}

/** The longest name of a function that every vendor takes. */
const MAX_NAME = 64;
const HASH_CHARACTERS = 8;

/** A name that is short enough for every vendor, and as different from others as the whole name is. */
export function shortName(name: string, whole = name): string {
  if (name.length <= MAX_NAME) return name;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, HASH_CHARACTERS);
  return `${name.slice(0, MAX_NAME - HASH_CHARACTERS - 1)}_${hash}`;
}

const TEXT_INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The function that stands for a free-form tool in protocols that have no such tools. */
export function functionForText({ name, description, grammar }: FreeFormTool): FunctionTool {
  // Other protocols cannot enforce a grammar: the model at least reads it.
  const rule = grammar && `"input" must match this ${grammar.syntax ?? ''} grammar:\n${grammar.definition}`;
  const said = [description, rule].filter(Boolean).join('\n\n');
  return { name, ...(said !== '' && { description: said }), parameters: TEXT_INPUT };
}

/** The arguments of the function that stands for a free-form tool. */
export const argumentsWith = (input: string): { readonly input: string } => ({ input });

/**
 * The text in the arguments of such a call that is over; a model that wrote something else gets its own words through.
 * Undefined: the reply was cut off within them, and the call is left out, because a client would run what is left of it.
 *
 * @param end how the reply ended; undefined when it continues after the call.
 */
export function textOfArguments(json: string, end: FinishReason | undefined): string | undefined {
  try {
    const value: unknown = parseBounded(json === '' ? '{}' : json);
    if (isJsonObject(value) && typeof value['input'] === 'string') return value['input'];
    return isJsonObject(value) && Object.keys(value).length === 0 ? '' : json;
  } catch {
    // Not what was asked for: the tool itself says so best.
    return isCutOff(end) ? undefined : json;
  }
}

/** Ends of a reply that leave its last call unfinished. */
const CUT_OFF: ReadonlySet<FinishReason> = new Set(['length', 'content-filter']);

/** Whether a reply that ended so may have ended within a call. */
const isCutOff = (end: FinishReason | undefined): boolean => end !== undefined && CUT_OFF.has(end);

/** A call of a whole reply that no caller can be shown. The model wrote what it was asked to, which a caller may bring it to. */
export class UnreadableCall extends GatewayError {
  constructor() {
    super('upstream_error', 'The model wrote a function call whose arguments cannot be read.', { isUnreadable: true });
  }
}

/**
 * The arguments of a call that is over, for styles that show them as an object. Undefined: the reply was cut off within
 * them, and the call is left out. A client would run whatever stood in their place.
 *
 * @param end how the reply ended; undefined when it continues after the call.
 * @throws UnreadableCall for arguments that are whole and no JSON object.
 */
export function finishedArguments(json: string, end: FinishReason | undefined): JsonObject | undefined {
  const object = parsedObject(json === '' ? '{}' : json);
  if (object || isCutOff(end)) return object;
  throw new UnreadableCall();
}

/** The calls of a whole reply whose arguments can be read, and everything that is no call. */
export const readableBlocks = (blocks: readonly ReplyBlock[], end: FinishReason): readonly ReplyBlock[] =>
  blocks.filter((block) => block.type !== 'call' || finishedArguments(block.arguments, end) !== undefined);
