import type { MediaUpstream, Medium, Operation, ProviderOutput, ResultSpool } from '#contracts';
import { copyToStore, type CopiedFile, type MediaStore } from '#media';
import { storeKeyOf, typeOfFile } from './result-files.js';

/** Marks an output whose bytes lie in our store already. */
const KEPT = 'kept:';

/** A spool into our own store, for the files of one task. */
export const resultSpool = (
  { id, medium }: { readonly id: string; readonly medium: Medium },
  { store, maxBytes, signal }: { store: MediaStore; maxBytes: number; signal: AbortSignal },
): ResultSpool => ({
  async keep(ordinal, bytes) {
    const place = (beginning: Buffer) => {
      const contentType = typeOfFile(medium, beginning);
      return { key: storeKeyOf(id, ordinal, contentType), contentType };
    };
    return KEPT + JSON.stringify(await copyToStore(bytes, { store, place, maxBytes, signal }));
  },
});

/**
 * The file behind the address that a spool gave for this output of the task; undefined for any other address. A vendor may
 * write what it likes, so that only the output's own place in the store counts.
 */
export function spooledFile({ url }: ProviderOutput, taskId: string, ordinal: number): CopiedFile | undefined {
  if (!url.startsWith(KEPT)) return undefined;
  const file = JSON.parse(url.slice(KEPT.length)) as CopiedFile;
  return file.key === storeKeyOf(taskId, ordinal, file.contentType) ? file : undefined;
}

/**
 * Files that checks may have kept of failed work: they are in our store, and no row names them. Null where there can be none.
 */
export function possiblySpooled(upstream: MediaUpstream | undefined, operation: Operation): ProviderOutput[] | null {
  const most = upstream?.mayKeep?.(operation) ?? 0;
  const contentType = `${upstream?.traits.checksBring ?? 'video'}/*`;
  return most > 0 ? Array.from({ length: most }, () => ({ role: 'output', contentType, url: KEPT })) : null;
}

/** Of a call that brings no files. */
export const NO_SPOOL: ResultSpool = {
  keep: () => Promise.reject(new RangeError('this call brings no files')),
};
