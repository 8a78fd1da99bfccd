import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { videoSample, jpegSample, longs, pngSample, wavSample } from '#testing';

/** A host of reference files, on a free port of this machine. Addresses say what the file is: `/png/800x600`, `/mp4/640x480x5`, `/wav/5`; `/redirect` leads to a private one. */
export interface MediaHost {
  /** `host:port`, as the allow list wants it. */
  readonly address: string;
  url(path: string): string;
  stop(): Promise<void>;
}

/** Starts the host. Whatever it does not know answers 404. */
export async function startMediaHost(): Promise<MediaHost> {
  const server = createServer((request, response) => answer(request.url ?? '', response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${portOf(server)}`;
  return {
    address,
    url: (path) => `http://${address}${path}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('the media host has no port');
  return address.port;
}

function answer(path: string, response: ServerResponse): void {
  const [, kind = '', numbers = ''] = path.split('/');
  if (kind === 'redirect') return void response.writeHead(302, { location: 'http://127.0.0.1/x.png' }).end();
  const file = fileOf(kind, numbers.split('x').map(Number));
  if (!file) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-length': file.length }).end(file);
}

function fileOf(kind: string, [first = 0, second = 0, seconds = 0]: number[]): Buffer | undefined {
  switch (kind) {
    case 'png':
      return pngSample({ width: first, height: second });
    case 'jpg':
      return jpegSample({ width: first, height: second });
    case 'mp4':
      return videoSample({ width: first, height: second, sampleTable: longs(1, seconds, 1_000) });
    case 'wav':
      return wavSample({ soundBytes: first * 16_000 });
    case 'html':
      return Buffer.from('<!doctype html><title>Not an image</title>');
    default:
      return undefined;
  }
}
