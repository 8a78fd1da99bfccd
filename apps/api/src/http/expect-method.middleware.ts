import { GatewayError } from '#contracts';
import type { NextFunction, Request, Response } from 'express';

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
  const message = `This path does not take ${method}: it takes ${otherMethods.join(' or ')}.`;
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
