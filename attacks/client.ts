import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#contracts';
import { MODEL_OVER } from './target.js';
import type { Protocol } from './wire-formats.js';

/** The styles a caller can use, and how each asks for a text. */
export const STYLES = {
  responses: {
    path: (_model: string, _stream: boolean) => '/v1/responses',
    body: (model: string, text: string, stream: boolean): JsonObject => ({ model, input: text, stream, store: false }),
  },
  messages: {
    path: (_model: string, _stream: boolean) => '/v1/messages',
    body: (model: string, text: string, stream: boolean): JsonObject => ({
      model,
      max_tokens: 1_000,
      stream,
      messages: [{ role: 'user', content: text }],
    }),
  },
  chat: {
    path: (_model: string, _stream: boolean) => '/v1/chat/completions',
    body: (model: string, text: string, stream: boolean): JsonObject => ({
      model,
      stream,
      messages: [{ role: 'user', content: text }],
    }),
  },
  gemini: {
    path: (model: string, stream: boolean) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (_model: string, text: string, _stream: boolean): JsonObject => ({
      contents: [{ role: 'user', parts: [{ text }] }],
    }),
  },
} as const;
export type Style = keyof typeof STYLES;
export const STYLE_NAMES = Object.keys(STYLES) as readonly Style[];

export interface Request {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly path: string;
  readonly body?: string | JsonObject | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

const QUESTION = 'What is six times seven?';

/** A text request in one style to the model whose upstream speaks one protocol. */
export function textRequest(
  style: Style,
  protocol: Protocol,
  stream: boolean,
  extra: JsonObject = {},
  question = QUESTION,
): Request {
  const model = MODEL_OVER[protocol];
  const { path, body } = STYLES[style];
  return {
    method: 'POST',
    path: path(model, stream),
    body: { ...body(model, question, stream), ...extra },
  };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** The body as it is sent. */
export const textOf = (body: string | JsonObject | FormData): string =>
  typeof body === 'string' ? body : JSON.stringify(body);

/** Longer than any answer may take, so that no attack waits for ever. */
const ANSWER_LIMIT_MS = 120_000;

/** Sends a request and reads its answer to the end. */
export async function send(url: string, key: string, { method, path, body, headers }: Request): Promise<Answer> {
  const { 'content-type': json, ...others } = headersFor(key);
  const isForm = body instanceof FormData;
  const answer = await fetch(url + path, {
    method,
    headers: { ...others, ...(!isForm && { 'content-type': json }), ...headers },
    ...(body !== undefined && { body: isForm ? body : textOf(body) }),
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

/** Sends a request and leaves once `enough` is true of the received data, or after a time. Returns what was received. */
export async function sendAndLeave(
  url: string,
  key: string,
  { method, path, body, headers }: Request,
  leave: { readonly whenReceived?: string; readonly afterMs: number },
): Promise<string> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), leave.afterMs);
  let received = '';
  try {
    const answer = await fetch(url + path, {
      method,
      headers: { ...headersFor(key), ...headers },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      received += decoder.decode(chunk, { stream: true });
      if (leave.whenReceived !== undefined && received.includes(leave.whenReceived)) break;
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
  return received;
}

/** How a connection is given up: its own end closed, all of it at once with RST, or both ends. */
export type Goodbye = 'half-close' | 'reset' | 'close';

/**
 * Writes requests one behind the other on one connection, without waiting for answers, and gives it up once `whenReceived`
 * has come back, or after a time.
 */
export async function pipelineAndLeave(
  url: string,
  key: string,
  requests: readonly Request[],
  leave: { readonly whenReceived?: string; readonly afterMs: number; readonly goodbye: Goodbye },
): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  for (const { path, body = '' } of requests) {
    const text = textOf(body);
    const fields = Object.entries({ ...headersFor(key), host: hostname, 'content-length': Buffer.byteLength(text) });
    const head = [`POST ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
    socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  }
  await Promise.race([received(socket, leave.whenReceived), closed, sleep(leave.afterMs)]);
  if (leave.goodbye === 'half-close') socket.end();
  else if (leave.goodbye === 'reset') socket.resetAndDestroy();
  else socket.destroy();
  await Promise.race([closed, sleep(5_000)]);
  socket.destroy();
}

const received = (socket: Socket, mark: string | undefined): Promise<void> =>
  new Promise((resolve) => {
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('utf8');
      if (mark !== undefined && text.includes(mark)) resolve();
    });
  });

/** Opens a connection, writes the head of a request with this length, and then no more than `bytes` of its body. */
export async function stalledRequest(
  url: string,
  key: string,
  path: string,
  length: number,
  bytes: number,
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const head = [`POST ${path} HTTP/1.1`, `Host: ${hostname}`, `Authorization: Bearer ${key}`];
  const fields = [...head, 'Content-Type: application/json', `Content-Length: ${length}`];
  socket.write(`${fields.join('\r\n')}\r\n\r\n`);
  const piece = Buffer.alloc(65_536, ' ');
  for (let written = 0; written < bytes && !socket.destroyed; written += piece.length) {
    if (!socket.write(piece.subarray(0, Math.min(piece.length, bytes - written)))) await drained(socket);
  }
  return socket;
}

async function drained(socket: Socket): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const waits = [
    once(socket, 'drain', { signal }),
    once(socket, 'close', { signal }),
    sleep(2_000, undefined, { signal }),
  ];
  await Promise.race(waits.map((wait) => wait.catch(() => undefined)));
  over.abort();
}

/** What a client of any style sends. */
export const headersFor = (key: string) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  'vendor-version': '2023-06-01',
});
