import type { NextFunction, Request, Response } from 'express';
import { alternatives, GatewayError } from '#contracts';

/**
 * Refuses a method that a known path does not have with 405, before its key and its body are read, and says with
 * `Allow` which methods it has. OPTIONS is answered with them.
 */
export function expectMethod({ method, match }: Request, response: Response, next: NextFunction): void {
  const { otherMethods } = match;
  if (otherMethods.length === 0) return next();
  const allow = [...otherMethods, 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') {
    response.setHeader('allow', allow);
    response.status(204).end();
    return;
  }
  const message = `This path does not take ${method}: it takes ${alternatives(otherMethods)}.`;
  next(new GatewayError('method_not_allowed', message, { headers: { allow } }));
}

const WEBSOCKET = /(?:^|,)\s*websocket\s*(?:,|$)/i;

/**
 * Refuses to open a WebSocket with 426, on every path and before a key is asked for: clients that try one first send the same request
 * by HTTP then. Node hands such a request on like any other while nobody listens for upgrades.
 */
export function refuseWebSockets({ headers: { upgrade } }: Request, _response: Response, next: NextFunction): void {
  if (upgrade === undefined || !WEBSOCKET.test(upgrade)) return next();
  const message =
    'There are no WebSockets: send POST /v1/responses (stream: true for events). In the settings of Codex that is supports_websockets = false.';
  next(new GatewayError('upgrade_required', message, { headers: { connection: 'close', upgrade: 'HTTP/1.1' } }));
}

/** Refuses addresses that no text can come of: null characters, which Postgres cannot hold, and what is not UTF-8. */
export function rejectBadUrl(request: Request, _response: Response, next: NextFunction): void {
  if (isReadable(request)) return next();
  next(
    new GatewayError(
      'invalid_parameter',
      'The address of the request must be percent-encoded UTF-8 without null characters (%00).',
    ),
  );
}

function isReadable({ url, path }: Request): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return !url.includes('%00');
  } catch {
    return false;
  }
}

/** Of these Node reads the first alone, and a proxy in front perhaps the last. Most others are joined by commas. */
const READ_ONCE = ['authorization', 'content-type', 'host'];

/**
 * Refuses a header that decides whose a request is or how it is read, and is given twice.
 *
 * @throws GatewayError `invalid_parameter`.
 */
export function expectSingleHeaders(request: Request, _response: Response, next: NextFunction): void {
  const { headers, rawHeaders } = request;
  // Node keeps one of each name, so that nearly every request is seen to repeat none without looking at its names.
  if (rawHeaders.length === 2 * Object.keys(headers).length) return next();
  const names = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [name.toLowerCase()] : []));
  const repeated = READ_ONCE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated === undefined) return next();
  next(new GatewayError('invalid_parameter', `The header ${repeated} must be given once.`));
}
