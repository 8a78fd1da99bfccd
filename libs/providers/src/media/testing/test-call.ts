import type { CallFacts, MediaOrder, UpstreamCallRef, VendorCall } from '#contracts';

/** A call as the router makes one, with what was noted in it. */
export interface TestCall extends VendorCall {
  readonly notes: CallFacts[];
  /** Everything that was noted, later facts over earlier ones. */
  noted(): CallFacts;
}

/** Where the checked copy of a file would lie. */
export const COPY = 'https://gateway.example.com/files/refs/copy?signature=1';

/** What every file holds. */
export const FILE_BYTES = Buffer.from('file');

/** A call for an order, as the worker gives it: files by link or bytes, results to a spool that keeps nothing. */
export function testCall(order: MediaOrder, ticket: UpstreamCallRef, signal = new AbortController().signal): TestCall {
  const notes: CallFacts[] = [];
  return {
    signal,
    ticket,
    notes,
    noted: () => Object.assign({}, ...notes) as CallFacts,
    note: (facts) => void notes.push(facts),
    files: {
      get: (param) => {
        const reference = order.references.find((candidate) => candidate.param === param);
        if (!reference) throw new RangeError(`no file at ${param}`);
        const { source } = reference;
        return {
          reference,
          url: () => Promise.resolve(source.startsWith('data:') ? COPY : source),
          bytes: () => Promise.resolve(FILE_BYTES),
        };
      },
    },
    spool: {
      keep: async (ordinal, bytes) => {
        for await (const _chunk of bytes);
        return `kept:${ordinal}`;
      },
    },
  };
}
