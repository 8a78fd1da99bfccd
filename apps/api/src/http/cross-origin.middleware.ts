import type { RequestHandler } from 'express';
import type { RouteIndex } from './route-index.js';

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
