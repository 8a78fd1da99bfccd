// A thread for all that is not the gateway: the vendors behind it, and the clients that send it large bodies.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { wholeChat } from '../tests/harness/text-vendor/chat-vendor.js';
import { wholeGemini } from '../tests/harness/text-vendor/gemini-vendor.js';
import { wholeMessage } from '../tests/harness/text-vendor/messages-vendor.js';
import { wholeResponse } from '../tests/harness/text-vendor/responses-vendor.js';
import { LARGE_CASES } from './large-cases.js';
import type { FollowingRequest, LargeCase } from './large-requests.js';

/** Makes the body of a case and, where that only prepares the case, sends it; or sends what is measured. */
export type OutsideOrder = ({ readonly make: string } | { readonly send: true }) & {
  readonly to: string;
  readonly authorization: string;
};

/** Where the vendors are, then the answer to each order: the length of the body, or the status it got. */
export type OutsideAnswer = { readonly vendors: string } | { readonly bytes: number } | { readonly status: number };

const CHUNK_BYTES = 1024 * 1024;
const SCRIPT = { serial: 1, reasoning: undefined, text: 'fine', call: undefined };

const wholeAnswer = (path: string): object => {
  // Without its usage, so that the gateway has to count.
  if (path.includes('/embeddings')) return { object: 'list', model: 'vendor-embedding', data: [] };
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

/** What is sent next. */
type Made = FollowingRequest & Pick<LargeCase, 'headers'>;
let made: Made = { method: 'GET', path: '/' };

async function make(name: string, to: string, authorization: string): Promise<OutsideAnswer> {
  const wanted = LARGE_CASES.find((large) => large.name === name);
  if (!wanted) throw new RangeError(`no case ${name}`);
  const { path, headers = {}, next } = wanted;
  const body = wanted.body();
  made = { method: 'POST', path, headers, body };
  if (next) made = { headers, ...next((await send(to, authorization)).text) };
  return { bytes: body.length };
}

async function send(baseUrl: string, authorization: string): Promise<{ status: number; text: string }> {
  const { method, path, headers, body } = made;
  const of = body ? { 'content-type': 'application/json', 'content-length': body.length } : {};
  const sent = httpRequest(baseUrl + path, { method, headers: { authorization, ...of, ...headers } });
  sent.setMaxListeners(0);
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  // A form that is too large is refused while it is sent.
  const refused = once(sent, 'error');
  for (let from = 0; from < (body?.length ?? 0) && !sent.destroyed; from += CHUNK_BYTES)
    if (!sent.write(body?.subarray(from, from + CHUNK_BYTES)))
      await Promise.race([once(sent, 'drain'), answered, refused]).catch(() => {});
  sent.end();
  const [answer] = await answered;
  const text = await buffer(answer).catch(() => Buffer.alloc(0));
  return { status: answer.statusCode ?? 0, text: text.toString('latin1') };
}

parentPort?.on('message', (order: OutsideOrder) => {
  const { to, authorization } = order;
  const answer =
    'make' in order
      ? make(order.make, to, authorization)
      : send(to, authorization).then(({ status }): OutsideAnswer => ({ status }));
  void answer.catch(() => ({ status: 0 })).then((result) => parentPort?.postMessage(result satisfies OutsideAnswer));
});
parentPort?.postMessage({ vendors: `http://127.0.0.1:${(vendors.address() as AddressInfo).port}/v1` });
