import { createHash } from 'node:crypto';
import type { ReasoningPart, TextEvent, TextProtocol, TextRequest } from '#contracts';
import { placeOf } from '../chat/chat-proofs.js';

/** A proof of reasoning as callers have it: `messages:...`, or `messages@1f3a09bc:...` where the vendor account that made it is known. */
const MARK = /^([a-z]+)(?:@([0-9a-f]{8}))?:/;

export interface MarkedProof {
  /** The protocol of its vendor, or `gateway`. */
  readonly signer: string;
  /** `accountMark` of the vendor account; undefined where the mark does not say. */
  readonly account: string | undefined;
  /** As its vendor gave it. */
  readonly proof: string;
}

/** Undefined for a proof without a mark: no vendor's own proof holds a colon. */
export function markedProof(signature: string): MarkedProof | undefined {
  const [mark, signer, account] = MARK.exec(signature) ?? [];
  return mark === undefined || signer === undefined
    ? undefined
    : { signer, account, proof: signature.slice(mark.length) };
}

/** Stands for the name of a vendor account in the proofs that it makes: the name itself is the operator's. */
export const accountMark = (vendorAccount: string): string =>
  createHash('sha256').update(`vendor account ${vendorAccount}`).digest('hex').slice(0, 8);

/** What the vendor whose models take no call without a proof documents as that of a call which another model made. */
export const MADE_ELSEWHERE = 'skip_thought_signature_validator';

/** Marks a vendor's proof with its protocol, so that a conversation that changes upstream sends it to no other vendor. */
export const markSignature = (protocol: TextProtocol, signature: string): string => `${protocol}:${signature}`;

/** The proof as the vendor gave it; undefined when another vendor did. */
export function ownSignature(protocol: TextProtocol, part: ReasoningPart): string | undefined {
  const mark = `${protocol}:`;
  return part.signature?.startsWith(mark) ? part.signature.slice(mark.length) : undefined;
}

/** The event with the account in the mark of its proof. What says only where reasoning belongs is no account's. */
export function madeBy(account: string, event: TextEvent): TextEvent {
  if (event.type !== 'signature' || withoutProof(event.signature) === event.signature) return event;
  const marked = markedProof(event.signature);
  if (!marked) return event;
  return { type: 'signature', signature: `${marked.signer}@${account}:${marked.proof}` };
}

/**
 * The request for an upstream of the account: proofs that it made lose its mark, and those of other accounts of the protocol
 * are left out. The same request where there is nothing to change.
 *
 * @param account undefined: no proof of the protocol is kept, whoever made it.
 */
export function withProofsOf(account: string | undefined, protocol: TextProtocol, request: TextRequest): TextRequest {
  const isProven = request.turns.some(({ parts }) => parts.some((part) => part.type === 'reasoning' && part.signature));
  if (!isProven) return request;
  let isChanged = false;
  const proven = (part: ReasoningPart): ReasoningPart => {
    const { signature, ...rest } = part;
    const marked = signature === undefined ? undefined : markedProof(signature);
    if (marked?.signer !== protocol || signature === undefined) return part;
    const isKept = account !== undefined && (marked.account ?? account) === account;
    const kept = isKept ? markSignature(protocol, marked.proof) : withoutProof(signature);
    if (kept === signature) return part;
    isChanged = true;
    return kept === undefined ? rest : { ...rest, signature: kept };
  };
  const turns = request.turns.map((turn) =>
    turn.role === 'assistant'
      ? { ...turn, parts: turn.parts.map((part) => (part.type === 'reasoning' ? proven(part) : part)) }
      : turn,
  );
  return isChanged ? { ...request, turns } : request;
}

/** What a mark says besides the proof: chat vendors want their reasoning back in the field that it came in. */
function withoutProof(signature: string): string | undefined {
  const marked = markedProof(signature);
  const place = marked?.signer === 'chat' ? placeOf(marked.proof) : undefined;
  return place === undefined ? undefined : markSignature('chat', place);
}
