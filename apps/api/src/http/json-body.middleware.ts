import type { IncomingHttpHeaders } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GatewayError } from '#contracts';
import { KEY_CACHE_MS } from '#features';
import { DIFFERENT_KEYS_MAX, type JsonScan, nextTurn, parsedJson, parsedParts, textOf } from '#platform';
import { OPERATORS } from './body-budget.js';
import { BODY_KINDS, REPEATABLE_BYTES } from './body-kinds.js';
import { type BodyCoding, codingOf } from './decode-body.js';
import { expectFewDifferentKeys, keysIn, refuseKeys } from './object-keys.js';
import { type BodyBounds, readBody } from './read-body.js';

/** Bodies of more bytes are parsed in steps, with other work in between. At once is twice as fast, and takes 2 ms for so much. */
const LARGE_BYTES = 1024 * 1024;

/** Each pass over so many keys takes some milliseconds where they stand in one object. Parsing them is the first of six. */
const MANY_KEYS = 5_000;

/**
 * The value that a scanned body is the JSON of. Each key stands once in its object and means what it reads as.
 *
 * @param bytes as they were scanned.
 * @param from where the JSON begins in them: behind a byte order mark.
 * @throws GatewayError `invalid_json`.
 */
export function readJson(bytes: Buffer, from: number, scan: JsonScan): unknown {
  if (bytes.length > LARGE_BYTES) return readLargeJson(bytes, from, scan);
  const text = from === 0 ? textOf(bytes, scan.takeLatin1()) : textOf(bytes.subarray(from));
  return scan.keys > MANY_KEYS ? readManyKeys(text, scan) : unambiguous(text, scan);
}

async function readManyKeys(text: string, scan: JsonScan): Promise<unknown> {
  if (scan.keys > DIFFERENT_KEYS_MAX) expectFewDifferentKeys(text);
  await nextTurn();
  const value = unambiguous(text, scan);
  await nextTurn();
  return value;
}

function unambiguous(text: string, scan: JsonScan): unknown {
  const value = parsedJson(text);
  if (mayHoldRefusedKeys(text, scan) || keysIn(value) !== scan.keys) refuseKeys(text);
  return value;
}

/** Long texts are decoded one by one; what is left is small, however large the body. */
async function readLargeJson(bytes: Buffer, from: number, scan: JsonScan): Promise<unknown> {
  const parts = await parsedParts(bytes, from, scan.longStrings);
  await nextTurn();
  const structure = textOf(parts.structure);
  if (scan.keys > DIFFERENT_KEYS_MAX) {
    expectFewDifferentKeys(structure);
    await nextTurn();
  }
  const value = parsedJson(structure, (message) => message.replaceAll(parts.mark, '…'));
  await nextTurn();
  if (mayHoldRefusedKeys(structure, scan) || keysIn(value) !== scan.keys) refuseKeys(structure);
  await nextTurn();
  return parts.restored(value);
}

/** Text is searched several times faster than bytes are. */
const mayHoldRefusedKeys = (text: string, scan: JsonScan): boolean => scan.hasEscapedKeys || text.includes('__proto__');

declare module 'express-serve-static-core' {
  interface Request {
    /** The body's own bytes, decoded where they were encoded, for answers that pass it on as it came. Undefined when there was none. */
    rawBody?: Buffer;
  }
}

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** True for a request whose body is read. */
export const carriesBody = ({ method, match }: Request): boolean =>
  HAS_BODY.has(method) && match.facts.body !== 'unread';

/**
 * Reads JSON bodies within bounds, also encoded ones (`Content-Encoding`); a body of another type is refused by name, and so are those
 * with very much structure and those whose keys can be read in two ways. An absent body is left undefined, an empty one is an empty
 * object. Of a file of an operator's, which may be YAML, only the bytes are read.
 */
export function jsonBody(bounds: BodyBounds): RequestHandler {
  const takeThen = async (
    next: NextFunction,
    request: Request,
    response: Response,
    coding: BodyCoding | undefined,
  ): Promise<void> => {
    await takeBody(request, response, bounds, coding);
    next();
  };
  return (request: Request, response: Response, next: NextFunction) => {
    // On an unknown path 404 comes before 415: a body of another type is not read.
    const isRead = request.match.pattern !== undefined || isJson(request.headers['content-type']);
    if (!carriesBody(request) || !isRead) return next();
    if (request.match.facts.body === 'upload') {
      if (codingOf(request.headers['content-encoding']))
        throw unsupported('Files are uploaded without Content-Encoding.');
      return next();
    }
    expectUtf8(request.headers, request.match.facts.body === 'operator_file');
    const coding = codingOf(request.headers['content-encoding']);
    if (!announcesBody(request.headers)) return next();
    return takeThen(next, request, response, coding);
  };
}

async function takeBody(
  request: Request,
  response: Response,
  bounds: BodyBounds,
  coding: BodyCoding | undefined,
): Promise<void> {
  const { overLimit, match } = request;
  const { json, announcedBytes } = BODY_KINDS[match.facts.body];
  const accountId = request.caller?.accountId ?? OPERATORS;
  const maxDecodedBytes = overLimit ? REPEATABLE_BYTES : announcedBytes;
  const sender = { accountId, json, coding, maxDecodedBytes };
  const began = performance.now();
  const { bytes, scan } = await readBody(request, response, bounds, sender).catch((error: unknown) => {
    const isTooLarge = error instanceof GatewayError && error.code === 'request_too_large';
    throw isTooLarge && overLimit ? overLimit : error;
  });
  if (performance.now() - began > KEY_CACHE_MS) await believeNoMore(request);
  // Some editors write a mark in front of UTF-8. It is no JSON, so upstreams never see it.
  const marked = bytes[0] === BYTE_ORDER_MARK[0] && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const from = marked ? BYTE_ORDER_MARK.length : 0;
  request.rawBody = marked ? bytes.subarray(from) : bytes;
  if (!scan) return;
  const body = request.rawBody.length === 0 ? {} : readJson(bytes, from, scan);
  request.body = body instanceof Promise ? await body : body;
}

/** Who sent the request was found before its body, which took so long that they may have lost their key or session meanwhile. */
async function believeNoMore(request: Request): Promise<void> {
  if (request.session) await request.expectStillAllowed?.();
  // The guard of the route finds the caller again.
  else delete request.caller;
}

const announcesBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

const isJson = (type: string | undefined): boolean =>
  type === undefined || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type);

export const isYaml = (type: string | undefined): boolean =>
  /^(?:application|text)\/(?:x-)?yaml\s*(;|$)/i.test(type ?? '');

/** UTF-8 is the only charset: upstreams of the same style get the bytes as they came, under no other name. */
function expectUtf8(
  { 'content-type': type, 'transfer-encoding': coding = 'chunked' }: IncomingHttpHeaders,
  takesYaml: boolean,
): void {
  if (!isJson(type) && !(takesYaml && isYaml(type)))
    throw unsupported(
      `Content-Type must be application/json${takesYaml ? ' or application/yaml' : ''}, not "${type?.slice(0, 100)}".`,
    );
  const charset = type === undefined ? undefined : /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw unsupported(`Bodies are read as UTF-8, not as "${charset.slice(0, 100)}".`);
  if (coding.toLowerCase() !== 'chunked')
    throw unsupported(`Transfer-Encoding "${coding.slice(0, 100)}" is not supported: send the body without it.`);
}

const unsupported = (message: string): GatewayError => new GatewayError('unsupported_media_type', message);
