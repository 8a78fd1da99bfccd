// A thread for all that is not the gateway: the vendors behind it, and whoever sends it large bodies.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { wholeChat } from '../apps/gateway/src/testing/text-vendor/chat-vendor.js';
import { wholeGemini } from '../apps/gateway/src/testing/text-vendor/gemini-vendor.js';
import { wholeMessage } from '../apps/gateway/src/testing/text-vendor/messages-vendor.js';
import { wholeResponse } from '../apps/gateway/src/testing/text-vendor/responses-vendor.js';
import { LARGE_CASES } from './large-cases.js';

/** Makes the body of a case; or sends it. */
export type OutsideOrder = { readonly make: string } | { readonly sendTo: string; readonly authorization: string };

/** Where the vendors are, then the answer to each order: the length of the body, or the status it got. */
export type OutsideAnswer = { readonly vendors: string } | { readonly bytes: number } | { readonly status: number };

const CHUNK_BYTES = 1024 * 1024;
const SCRIPT = { serial: 1, reasoning: undefined, text: 'fine', call: undefined };

const wholeAnswer = (path: string): object => {
  if (path.includes('/chat/')) return wholeChat(SCRIPT);
  if (path.includes('/responses')) return wholeResponse(SCRIPT);
  return path.includes('/messages') ? wholeMessage(SCRIPT) : wholeGemini(SCRIPT);
};

const vendors = createServer((request, response) => {
  request.resume().once('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(wholeAnswer(request.url ?? '')));
  });
});
vendors.listen(0, '127.0.0.1');
await once(vendors, 'listening');

let made: { body: Buffer; path: string; headers: Readonly<Record<string, string>> } = {
  body: Buffer.alloc(0),
  path: '',
  headers: {},
};

function make(name: string): OutsideAnswer {
  const wanted = LARGE_CASES.find((large) => large.name === name);
  if (!wanted) throw new RangeError(`no case ${name}`);
  made = { path: wanted.path, headers: wanted.headers ?? {}, body: wanted.body() };
  return { bytes: made.body.length };
}

async function send(baseUrl: string, authorization: string): Promise<OutsideAnswer> {
  const { path, headers, body } = made;
  const length = { 'content-type': 'application/json', 'content-length': body.length };
  const sent = httpRequest(baseUrl + path, { method: 'POST', headers: { authorization, ...length, ...headers } });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  // A form that is too large is refused while it is sent.
  const refused = once(sent, 'error');
  for (let from = 0; from < body.length && !sent.destroyed; from += CHUNK_BYTES)
    if (!sent.write(body.subarray(from, from + CHUNK_BYTES)))
      await Promise.race([once(sent, 'drain'), answered, refused]).catch(() => {});
  sent.end();
  const [answer] = await answered;
  await buffer(answer).catch(() => {});
  return { status: answer.statusCode ?? 0 };
}

parentPort?.on('message', (order: OutsideOrder) => {
  const answer = 'make' in order ? Promise.resolve(make(order.make)) : send(order.sendTo, order.authorization);
  void answer.catch(() => ({ status: 0 })).then((told) => parentPort?.postMessage(told satisfies OutsideAnswer));
});
parentPort?.postMessage({ vendors: `http://127.0.0.1:${(vendors.address() as AddressInfo).port}/v1` });
