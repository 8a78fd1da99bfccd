import { isJsonObject } from '#contracts';
import { parseBounded } from '#platform';
import { asBuffer } from '../as-buffer.js';

/** What the chunk holds that tells nothing but the usage: it has no choices. */
const WITHOUT_CHOICES = /"choices"\s*:\s*\[\s*\]/;

/**
 * Takes the chunk of the usage out of whole events that pass through: where the caller did not ask for it, the gateway
 * did. Other events stay byte for byte.
 */
export function withoutUsageChunk(events: Uint8Array): Uint8Array {
  const bytes = asBuffer(events);
  if (!WITHOUT_CHOICES.test(bytes.toString('latin1'))) return events;
  // A blank line ends an event, and is kept with it.
  const kept = bytes
    .toString('utf8')
    .split(/(?<=\n\r?\n)/)
    .filter((event) => !isUsageChunk(event));
  return Buffer.from(kept.join(''));
}

function isUsageChunk(event: string): boolean {
  const data = /^data: ?(\{.*\})\s*$/m.exec(event)?.[1];
  if (data === undefined) return false;
  try {
    const chunk: unknown = parseBounded(data);
    if (!isJsonObject(chunk) || !isJsonObject(chunk['usage'])) return false;
    // One that holds something of the prompt has no choices either, but no usage.
    return Array.isArray(chunk['choices']) && chunk['choices'].length === 0;
  } catch {
    return false;
  }
}
