import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GatewayError } from '#contracts';
import { type AccessService, type Caller, expectAllowedAddress } from '#features';
import { carriesBody } from './json-body.middleware.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set when the operator's token was right. Operators have no account. */
    isOperator?: true;
  }
}

const KEY_HEADER = '"Authorization: Bearer <API_KEY>"';
/** What the messages style documents; it takes the other as well. */
const MESSAGES_KEY_HEADER = '"x-api-key: <API_KEY>"';

/** Where other services take their keys. */
const KEY_IN_QUERY = /^(api[-_]?key|access_token|token)$/i;
const KEY_HEADERS_ELSEWHERE = ['api-key', 'apikey', 'x-auth-token', 'x-token', 'token'];

/**
 * Authenticates the caller of a request, at once where its key is known: most of what a promise costs is spent on waiting for nothing.
 *
 * @throws GatewayError `invalid_api_key`, `address_not_allowed` when the key is bound to other addresses, or
 * `rate_limit_exceeded` when too many wrong keys came from the address.
 */
export function authenticate(request: Request, access: AccessService): Caller | Promise<Caller> {
  const presented = presentedKey(request);
  if (!presented) throw new GatewayError('invalid_api_key', noKey(request));
  const caller = access.authenticate(presented, () => request.ip);
  return caller instanceof Promise ? caller.then((found) => admitted(found, request)) : admitted(caller, request);
}

/** @throws GatewayError `address_not_allowed`. */
function admitted(caller: Caller, request: Request): Caller {
  // Asking Express for the address costs more than the rest of this, and few keys are bound to any.
  if (caller.allowedAddresses.length > 0) expectAllowedAddress(caller.allowedAddresses, request.ip);
  return caller;
}

function noKey(request: Request): string {
  const header = request.match.facts.style === 'messages' ? MESSAGES_KEY_HEADER : KEY_HEADER;
  if (typeof request.query['key'] === 'string' && !request.headers.authorization)
    return `The API key was sent as ?key=, which only content-generation paths take: add the header ${header}.`;
  const elsewhere = Object.keys(request.query).find((name) => KEY_IN_QUERY.test(name));
  if (elsewhere !== undefined && !request.headers.authorization)
    return `The API key was sent in the address, which logs keep: add the header ${header}.`;
  const wrong = KEY_HEADERS_ELSEWHERE.find((name) => request.headers[name] !== undefined);
  if (wrong !== undefined && !request.headers.authorization)
    return `The API key was sent in the header ${wrong}, which is not read: add the header ${header}.`;
  return missingKeyReason(request, 'key', KEY_HEADER) ?? `No API key was sent: add the header ${header}.`;
}

/** Checks the API key before reading the body, so an unauthenticated client cannot make the gateway buffer or parse anything. */
export function authenticateBeforeBody(access: AccessService): RequestHandler {
  const goOnWith = (caller: Caller, request: Request, next: NextFunction): void => {
    request.caller = caller;
    next();
  };
  return (request: Request, _response: Response, next: NextFunction) => {
    if (!carriesBody(request) || request.isOperator || request.match.facts.style === 'console') return next();
    const caller = authenticate(request, access);
    if (!(caller instanceof Promise)) return goOnWith(caller, request, next);
    return caller.then((found) => goOnWith(found, request, next));
  };
}

const BEARER_ALONE = /^Bearer\s*$/i;
/** Named in the answer; any other first word may be a part of the secret itself, and is not repeated. */
const OTHER_SCHEME = /^(Basic|Digest|Token|ApiKey|Api-Key|Key)\s/i;

/**
 * Why no key was found in a request that tried to send one, as a sentence; undefined when it did not try.
 *
 * @param what how the secret is called, and `header` how it is sent.
 */
export function missingKeyReason(request: Request, what: 'key' | 'token', header: string): string | undefined {
  const { authorization } = request.headers;
  if (!authorization) return undefined;
  if (BEARER_ALONE.test(authorization))
    return `The Authorization header has no ${what} after the word Bearer. Is the variable empty that should hold it?`;
  const scheme = OTHER_SCHEME.exec(authorization)?.[1];
  if (scheme) return `The Authorization header must be ${header}; the scheme ${scheme} is not supported.`;
  return `The Authorization header lacks the word Bearer before the ${what}: it must be ${header}.`;
}

const BEARER = /^Bearer +(\S.*)$/i;

/**
 * The API key a request carries: Bearer, `x-api-key` or `x-goog-api-key`, on every path, because client libraries
 * differ from version to version. The messages style prefers `x-api-key` when several are sent. `?key=` is read in the
 * content-generation style only.
 */
export function presentedKey(request: Request): string | undefined {
  const { style } = request.match.facts;
  const bearer = BEARER.exec(request.headers.authorization ?? '')?.[1]?.trim();
  // The first choice of every other style, and what nearly all clients send.
  if (bearer && style !== 'messages') return bearer;
  const apiKey = single(request.headers['x-api-key']);
  const googleKey = single(request.headers['x-goog-api-key']);
  const queryKey = style === 'gemini' ? single(request.query['key']) : undefined;
  const headers = style === 'messages' ? [apiKey, bearer, googleKey] : [bearer, apiKey, googleKey];
  return [...headers, queryKey].find(Boolean);
}

const single = (value: unknown): string | undefined => (typeof value === 'string' ? value.trim() : undefined);
