// Another gateway with any number of tasks, in a process of its own: each continues until its time, and is then an image.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pngSample } from '#testing';

/** When each of these tasks is done, in milliseconds of the epoch; all others never are. */
type DoneTimes = Readonly<Record<string, number>>;

const IMAGE = pngSample({ width: 64, height: 64 });
const WORKING = JSON.stringify({ code: 200, data: { status: 'processing', result: null, error: null, usage: null } });
const doneAs = (url: string): string => {
  const result = { images: [{ url, content_type: 'image/png' }] };
  return JSON.stringify({ code: 200, data: { status: 'completed', result, error: null, usage: null } });
};
let doneAt: DoneTimes = {};
let asked = 0;

const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (path.endsWith('.png')) {
    response.writeHead(200, { 'content-length': IMAGE.length }).end(IMAGE);
    return;
  }
  asked += 1;
  const time = doneAt[path.slice('/v1/tasks/'.length)];
  const isDone = time !== undefined && Date.now() >= time;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(isDone ? doneAs(`http://${request.headers.host}/image.png`) : WORKING);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
process.on('message', (message: { readonly done?: DoneTimes }) => {
  doneAt = message.done ?? doneAt;
  process.send?.({ asked });
});
