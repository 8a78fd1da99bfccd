import type { TextEvent, TextRequest } from '#contracts';
import { inOwnNames, withAcceptedNames } from './accepted-names.js';
import { AnswerTaker, withAnswerInObject } from './answer-in-object.js';
import type { ProtocolCodec } from './protocol-codec.js';

/** Turns the events of one reply, in order, into those of a reply to what the caller asked. */
export type ReadBack = (events: readonly TextEvent[]) => readonly TextEvent[];

/** A request in the form that the vendors of a protocol take. */
export interface AcceptedRequest {
  readonly request: TextRequest;
  /** Begins to read one reply. */
  readonly readBack: () => ReadBack;
}

/** The request with names of functions and a form of the answer that the vendors of a protocol take. */
export function acceptedRequest(asked: TextRequest, protocol: ProtocolCodec['protocol']): AcceptedRequest {
  const { request: named, ownNames } = withAcceptedNames(asked, protocol);
  const { format, isInObject } = withAnswerInObject(named.format, protocol);
  return {
    request: format === named.format ? named : { ...named, format },
    readBack: () => {
      if (!isInObject) return (events) => inOwnNames(events, ownNames);
      const taker = new AnswerTaker();
      return (events) => inOwnNames(taker.take(events), ownNames);
    },
  };
}
