import { type FinishReason, GatewayError, type JsonObject, type ReplyBlock } from '#contracts';
import { parsedObject } from '#platform';

/** Ends of a reply that leave its last call unfinished. */
const CUT_OFF: ReadonlySet<FinishReason> = new Set(['length', 'content-filter']);

/** Whether a reply that ended so may have ended within a call. */
export const isCutOff = (end: FinishReason | undefined): boolean => end !== undefined && CUT_OFF.has(end);

/**
 * The arguments of a call that is over, for styles that show them as an object. Undefined: the reply was cut off within
 * them, and the call is left out. A client would run whatever stood in their place.
 *
 * @param end how the reply ended; undefined when it continues after the call.
 * @throws GatewayError `upstream_error` for arguments that are whole and no JSON object.
 */
export function finishedArguments(json: string, end: FinishReason | undefined): JsonObject | undefined {
  const object = parsedObject(json === '' ? '{}' : json);
  if (object || isCutOff(end)) return object;
  throw new GatewayError('upstream_error', 'The model wrote a function call whose arguments cannot be read.');
}

/** The calls of a whole reply whose arguments can be read, and everything that is no call. */
export const readableBlocks = (blocks: readonly ReplyBlock[], end: FinishReason): readonly ReplyBlock[] =>
  blocks.filter((block) => block.type !== 'call' || finishedArguments(block.arguments, end) !== undefined);
