import type { NextFunction, Request, Response } from 'express';
import { textStyleOf } from './text-style-of.js';

/** What pages of other origins may read of an answer. */
const READABLE = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'ratelimit',
  'ratelimit-policy',
  'idempotent-replayed',
].join(', ');

const PREFLIGHT_SECONDS = 86_400;

/** The balance of a user (D1 4.4) and of a key. */
const BALANCE = /^(\/v1)?\/user\/balance\/?$|^\/v1\/balance\/?$/;

/** Lets pages of any origin use the text and balance endpoints: they carry their key themselves, and there are no cookies to abuse. */
export function crossOrigin(request: Request, response: Response, next: NextFunction): void {
  if (textStyleOf(request.path) === undefined && !BALANCE.test(request.path)) return next();
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', READABLE);
  if (request.method !== 'OPTIONS') return next();
  // The wildcard never covers Authorization, so the names that were asked for are said back.
  const wanted = request.headers['access-control-request-headers'];
  if (wanted !== undefined) response.setHeader('access-control-allow-headers', wanted);
  response.setHeader('access-control-allow-methods', 'GET, POST, OPTIONS');
  response.setHeader('access-control-max-age', PREFLIGHT_SECONDS);
  response.status(204).end();
}
