import type { ProviderOutput } from '#contracts';
import { extensionOf } from '#media';

/** A file that is in the store and was found readable. */
export interface SettledFile {
  readonly ordinal: number;
  readonly role: 'output' | 'last_frame';
  readonly storeKey: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
}

/** Where the file of an output lies in our store: always at the same place, so that copying is safe to repeat. */
export const storeKeyOf = (taskId: string, ordinal: number, { contentType }: ProviderOutput): string =>
  `media/${taskId}/${ordinal}.${extensionOf(contentType)}`;

/** What may have been copied for a task that failed after all. Nobody gets to see it; it is noted to be removed. */
export const leftoverFiles = (taskId: string, outputs: readonly ProviderOutput[] | null): SettledFile[] =>
  (outputs ?? []).map((output, ordinal) => ({
    ordinal,
    role: output.role,
    storeKey: storeKeyOf(taskId, ordinal, output),
    contentType: output.contentType,
    bytes: 0,
    sha256: '',
    width: null,
    height: null,
    durationMs: null,
  }));
