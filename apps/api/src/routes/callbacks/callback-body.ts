import { addAbortSignal, type Readable } from 'node:stream';
import { isJsonObject, type JsonObject } from '#contracts';
import { abortAfter } from '#platform';

const MAX_BYTES = 64 * 1024;
/** Vendors give up after 3 s. */
const TIMEOUT_MS = 2_000;

/** What a vendor sent, if it is a JSON object of at most 64 KiB that arrives in time; the rest is left unread. */
export async function callbackBody(request: Readable): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    addAbortSignal(abortAfter(TIMEOUT_MS), request);
    // A body that is too long is no reason to hang up.
    const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of parts) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
    const sent: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return isJsonObject(sent) ? (sent as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
