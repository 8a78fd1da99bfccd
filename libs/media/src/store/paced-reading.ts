import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/**
 * A response's body that fails when its sender sends nothing for so long while it is read. Time in which its reader does not
 * read does not count: the limit of the connection, which cannot tell the two apart, is taken away.
 */
export function paced(body: IncomingMessage, limitMs: number): Readable {
  body.setTimeout(0);
  const reading = Readable.from(chunksOf(body, limitMs), { objectMode: false });
  // A reader that leaves while a chunk is awaited would be heard only with that chunk.
  reading.once('close', () => body.destroy());
  return reading;
}

async function* chunksOf(body: IncomingMessage, limitMs: number): AsyncGenerator<Buffer> {
  const fail = (): void => void body.destroy(new Error(`the sender sent nothing for ${limitMs} ms`));
  let timer = setTimeout(fail, limitMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(fail, limitMs);
    }
  } finally {
    clearTimeout(timer);
  }
}
