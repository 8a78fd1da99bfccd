import { readFileSync } from 'node:fs';
import type { MediaUpstreamEntry } from './media-upstream-entry.js';

/** The key of an entry as it is there, or the content of its key file in base64. @throws what reading the file throws. */
export const keyOf = ({
  key,
  service_account_file: file,
}: Pick<MediaUpstreamEntry, 'key' | 'service_account_file'>): string | undefined =>
  key ?? (file === undefined ? undefined : readFileSync(file).toString('base64'));
