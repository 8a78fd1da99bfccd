import {
  type AssistantPart,
  type CallPart,
  type ChatMessage,
  type ChatReasoningDetail,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ReasoningPart,
  type ReplyBlock,
} from '#contracts';
import { callProofIn, isBehindCall, markedProof } from '#providers';

/** Where a client library keeps the proof that stood at a call. */
export const proofAtCall = (signature: string): JsonObject => ({ google: { thought_signature: signature } });

/** The proof at a call; undefined where there is none. */
function proofIn(extra: JsonValue | null | undefined): string | undefined {
  const google = isJsonObject(extra) ? extra['google'] : undefined;
  const proof = isJsonObject(google) ? google['thought_signature'] : undefined;
  return typeof proof === 'string' && proof !== '' ? proof : undefined;
}

const textIn = (detail: JsonObject, field: string): string => {
  const value = detail[field];
  return typeof value === 'string' ? value : '';
};

function readDetail(detail: JsonObject): ReasoningPart[] {
  const text = textIn(detail, 'text') || textIn(detail, 'summary');
  const signature = textIn(detail, 'signature') || textIn(detail, 'data');
  if (text === '' && signature === '') return [];
  return [signature === '' ? { type: 'reasoning', text } : { type: 'reasoning', text, signature }];
}

/** Whether a vendor wants its proof on the very part that it came with; others want it in front of all that follows. */
export const belongsToOnePart = (signature: string): boolean =>
  markedProof(signature)?.signer === 'gemini' || callProofIn(chatProofIn(signature)) !== undefined;

function chatProofIn(signature: string): string {
  const marked = markedProof(signature);
  return marked?.signer === 'chat' ? marked.proof : '';
}

/** Whether a proof belongs to the call that it follows. */
export const followsItsCall = (signature: string): boolean => isBehindCall(chatProofIn(signature));

/** A thought, and the call that carries its proof as well. */
interface Replayed {
  readonly thought: ReasoningPart;
  readonly call: number | undefined;
}

/** Clients keep different things: the details with the proof of each, or the text and the proofs at the calls. */
function replayedThoughts(message: ChatMessage): Replayed[] {
  const proofs = (message.tool_calls ?? []).map(({ extra_content: extra }) => proofIn(extra));
  const details = (message.reasoning_details ?? []).flatMap(readDetail);
  if (details.length > 0) {
    let next = 0;
    return details.map((thought) => {
      const call = thought.signature === undefined ? -1 : proofs.indexOf(thought.signature, next);
      if (call === -1) return { thought, call: undefined };
      next = call + 1;
      return { thought, call };
    });
  }
  const text = message.reasoning_content ?? message.reasoning ?? '';
  const proven = proofs.flatMap((signature, call) => (signature === undefined ? [] : [{ signature, call }]));
  if (proven.length === 0) return text === '' ? [] : [{ thought: { type: 'reasoning', text }, call: undefined }];
  return proven
    .filter(({ signature }, place) => place === 0 || belongsToOnePart(signature))
    .map(({ signature, call }, place) => {
      const thought = { type: 'reasoning' as const, text: place === 0 ? text : '', signature };
      return { thought, call };
    });
}

/** The parts of an assistant message with the reasoning that its client sends back, each thought before what it led to. */
export function withReasoning(
  message: ChatMessage,
  said: readonly AssistantPart[],
  calls: readonly CallPart[],
): AssistantPart[] {
  const thoughts = replayedThoughts(message);
  const areAllAtCalls = thoughts.every(({ call }) => call !== undefined);
  const isInFront = ({ thought, call }: Replayed, place: number): boolean =>
    call === undefined || (place === 0 && areAllAtCalls && !belongsToOnePart(thought.signature ?? ''));
  const inFront = thoughts.filter(isInFront);
  const atCalls = thoughts.filter((thought) => !inFront.includes(thought));
  return [
    ...inFront.map(({ thought }) => thought),
    ...said,
    ...calls.flatMap((part, index) => [
      ...atCalls.flatMap(({ thought, call }) => (call === index ? [thought] : [])),
      part,
    ]),
  ];
}

/** The detail of a block that its vendor signed; undefined for one without a proof, whose text says all. */
export function reasoningDetail(
  { text, signature }: Extract<ReplyBlock, { type: 'reasoning' }>,
  index: number,
): ChatReasoningDetail | undefined {
  if (signature === undefined || signature === '') return undefined;
  return text === ''
    ? { type: 'reasoning.encrypted', data: signature, index }
    : { type: 'reasoning.text', text, signature, index };
}
