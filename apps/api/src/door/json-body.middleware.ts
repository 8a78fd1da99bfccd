import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '#contracts';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type BodyBounds, readBody } from './read-body.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The body's own bytes, for answers that pass it on as it came. Undefined when there was none. */
    rawBody?: Buffer;
  }
}

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Arrays and objects within each other. Far more than any request needs, far less than what exhausts a call stack. */
const DEPTH_MAX = 200;

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** True for a request whose body is read. */
export const carriesBody = ({ method }: Request): boolean => HAS_BODY.has(method);

/**
 * Reads JSON bodies within bounds; a body of another type is refused by name, and so are compressed and very deeply
 * nested ones. An absent body is left undefined, an empty one is an empty object.
 */
export function jsonBody(bounds: BodyBounds): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    if (carriesBody(request)) {
      expectPlainJson(request.headers);
      if (announcesBody(request.headers)) {
        request.rawBody = unmarked(await readBody(request, response, bounds));
        request.body = parsed(request.rawBody);
      }
    }
    next();
  };
}

const announcesBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** UTF-8 is the only encoding: upstreams of the same style get the bytes as they came, under no other name. */
function expectPlainJson({
  'content-type': type,
  'content-encoding': encoding = 'identity',
}: IncomingHttpHeaders): void {
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type))
    throw unsupported(`Content-Type must be application/json, not "${type.slice(0, 100)}".`);
  const charset = type === undefined ? undefined : /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw unsupported(`Bodies are read as UTF-8, not as "${charset.slice(0, 100)}".`);
  if (encoding.toLowerCase() !== 'identity')
    throw unsupported(`Bodies are read as they are, without Content-Encoding "${encoding.slice(0, 100)}".`);
}

const unsupported = (message: string): GatewayError => new GatewayError('unsupported_media_type', message);

/** Some editors write a mark in front of UTF-8. It is no JSON, so upstreams never see it. */
const unmarked = (bytes: Buffer): Buffer =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;

function parsed(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const body = parsedJson(textOf(bytes));
  if (!fitsDepth(body, DEPTH_MAX))
    throw new GatewayError('invalid_json', `The body must not nest deeper than ${DEPTH_MAX} arrays and objects.`);
  return body;
}

/** Most bodies are plain ASCII, which is decoded in half the time. */
function textOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Not kept as a cause: its words quote the body, and causes may be logged.
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_json', `The body is not valid JSON: ${reason}.`);
  }
}

function fitsDepth(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => fitsDepth(inner, depth - 1));
}
