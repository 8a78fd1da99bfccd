import type { Environment } from '#platform';
import { readUpstreamList } from '../upstreams-file.js';
import { checkUpstreamsFile } from './check-upstreams.js';
import type { UpstreamEntry } from './upstream-entry.js';

/**
 * Reads the list of text upstreams.
 *
 * @param file name of the file, for the messages.
 * @returns undefined when the file only lists upstreams of media.
 * @throws ConfigError with one line for each mistake: file, line, field, rule.
 */
export const readUpstreamsFile = (
  text: string,
  file: string,
  environment?: Environment,
): readonly UpstreamEntry[] | undefined =>
  readUpstreamList({ text, file, environment }, 'upstreams', checkUpstreamsFile);
