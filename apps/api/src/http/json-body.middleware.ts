import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '#contracts';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { BODY_KINDS } from './body-kinds.js';
import { type BodyBounds, readBody } from './read-body.js';
import { readJson } from './read-json.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The body's own bytes, for answers that pass it on as it came. Undefined when there was none. */
    rawBody?: Buffer;
  }
}

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The owner of the bodies of operators, which have no account. */
const OPERATORS = 'operators';

/** True for a request whose body is read. */
export const carriesBody = ({ method, match }: Request): boolean =>
  HAS_BODY.has(method) && match.facts.body !== 'unread';

/**
 * Reads JSON bodies within bounds; a body of another type is refused by name, and so are compressed ones, those with very
 * much structure and those whose keys can be read in two ways. An absent body is left undefined, an empty one is an empty
 * object.
 */
export function jsonBody(bounds: BodyBounds): RequestHandler {
  const takeThen = async (next: NextFunction, request: Request, response: Response): Promise<void> => {
    await takeBody(request, response, bounds);
    next();
  };
  return (request: Request, response: Response, next: NextFunction) => {
    // On an unknown path 404 comes before 415: a body of another type is not read.
    const isRead = request.match.pattern !== undefined || isJson(request.headers['content-type']);
    if (!carriesBody(request) || !isRead || request.match.facts.body === 'upload') return next();
    expectPlainJson(request.headers);
    if (!announcesBody(request.headers)) return next();
    return takeThen(next, request, response);
  };
}

async function takeBody(request: Request, response: Response, bounds: BodyBounds): Promise<void> {
  const sender = { accountId: request.caller?.accountId ?? OPERATORS, json: BODY_KINDS[request.match.facts.body].json };
  const { bytes, scan } = await readBody(request, response, bounds, sender);
  // Some editors write a mark in front of UTF-8. It is no JSON, so upstreams never see it.
  const marked = bytes[0] === BYTE_ORDER_MARK[0] && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const from = marked ? BYTE_ORDER_MARK.length : 0;
  request.rawBody = marked ? bytes.subarray(from) : bytes;
  request.body = request.rawBody.length === 0 ? {} : await readJson(bytes, from, scan);
}

const announcesBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

const isJson = (type: string | undefined): boolean =>
  type === undefined || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type);

/** UTF-8 is the only encoding: upstreams of the same style get the bytes as they came, under no other name. */
function expectPlainJson({
  'content-type': type,
  'content-encoding': encoding = 'identity',
  'transfer-encoding': coding = 'chunked',
}: IncomingHttpHeaders): void {
  if (!isJson(type)) throw unsupported(`Content-Type must be application/json, not "${type?.slice(0, 100)}".`);
  const charset = type === undefined ? undefined : /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw unsupported(`Bodies are read as UTF-8, not as "${charset.slice(0, 100)}".`);
  if (encoding.toLowerCase() !== 'identity')
    throw unsupported(`Bodies are read as they are, without Content-Encoding "${encoding.slice(0, 100)}".`);
  if (coding.toLowerCase() !== 'chunked')
    throw unsupported(`Bodies are read as they are, without Transfer-Encoding "${coding.slice(0, 100)}".`);
}

const unsupported = (message: string): GatewayError => new GatewayError('unsupported_media_type', message);
