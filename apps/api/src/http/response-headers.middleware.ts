import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { type Health, randomId } from '#platform';
import type { RouteIndex } from './route-index.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in answers, logs and ledger entries: `req_` and 24 hexadecimal digits. */
    requestId: string;
  }
}

/**
 * The security headers of every response: nothing may be run or framed, types are not guessed. Files may be shown
 * by other sites, because their links are made for that.
 */
const POLICY = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  // Only the proxy that ends TLS in front of the gateway knows whether it is reached over HTTPS alone.
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
});

/**
 * The policy never depends on the request, so it is asked once: going through its dozen steps again for every answer
 * took a sixth of the time of a poll.
 */
const HEADERS = headersOf(POLICY);

export function securityHeaders(_request: Request, response: Response, next: NextFunction): void {
  for (const [name, value] of HEADERS) response.setHeader(name, value);
  next();
}

/** What a middleware sets on an answer. @throws what it passes on. */
function headersOf(middleware: typeof POLICY): readonly (readonly [name: string, value: string])[] {
  const request = new IncomingMessage(new Socket());
  const answer = new ServerResponse(request);
  middleware(request, answer, (error) => {
    if (error) throw error;
  });
  return Object.entries(answer.getHeaders()).map(([name, value]) => [name, String(value)]);
}

const PAGE_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'self'",
  "form-action 'self'",
].join('; ');

/** Lets a page of ours load its own scripts, styles and images, and nothing from elsewhere. */
export function allowOwnPage(response: Response): void {
  response.setHeader('content-security-policy', PAGE_POLICY);
}

/** What pages of other origins may read of an answer. */
const READABLE = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-gateway-limited-by',
  'ratelimit',
  'ratelimit-policy',
  'idempotent-replayed',
].join(', ');

const PREFLIGHT_SECONDS = 86_400;

/**
 * Lets pages of any origin use the routes that say so: such pages carry their key themselves, and there are no cookies
 * to abuse. A preflight asks about the route of another method than its own.
 */
export const crossOrigin =
  (routes: RouteIndex): RequestHandler =>
  (request, response, next) => {
    const announced = request.method === 'OPTIONS' ? request.headers['access-control-request-method'] : undefined;
    const { facts } = announced === undefined ? request.match : routes.find(announced, request.path);
    if (!facts.cors) return next();
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-expose-headers', READABLE);
    if (announced === undefined) return next();
    // The wildcard never covers Authorization, so the names that were asked for are said back.
    const wanted = request.headers['access-control-request-headers'];
    if (wanted !== undefined) response.setHeader('access-control-allow-headers', wanted);
    response.setHeader('access-control-allow-methods', 'GET, POST, DELETE, OPTIONS');
    response.setHeader('access-control-max-age', PREFLIGHT_SECONDS);
    response.status(204).end();
  };

/** While the process drains, every answer asks its client to open the next connection elsewhere. */
export const closeWhenDraining =
  (health: Health): RequestHandler =>
  (_request, response, next) => {
    if (health.isDraining) response.setHeader('connection', 'close');
    next();
  };

/**
 * Gives every request an id and returns it under both header names that libraries read. Log lines of a request name it
 * themselves: a context that follows every promise costs more than a tenth of a request.
 */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const id = randomId('req');
  request.requestId = id;
  response.setHeader('x-request-id', id);
  response.setHeader('request-id', id);
  next();
}

/** Stands on answers that the built-in sandbox made or will make: no real model is behind them. */
export const SANDBOX_HEADER = 'x-gateway-sandbox';
