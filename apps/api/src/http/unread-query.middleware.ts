import { GatewayError, textFieldNames } from '#contracts';
import type { NextFunction, Request, Response } from 'express';
import { isTextStyle, type RequestStyle, type RouteFacts } from './route-facts.js';

/** Where no client library adds anything of its own, so that whatever is not read is a mistake. */
const EXACT: ReadonlySet<RequestStyle> = new Set(['video', 'image', 'files']);

/** What client libraries add to any address. */
const ADDED = new Set(['beta', 'api-version']);

/**
 * Refuses what an address asks for and nothing reads, before money is held: fields that belong into the body, and
 * parameters that are almost those of the route. What means nothing here is let through where client libraries add it.
 *
 * @throws GatewayError `unknown_parameter`.
 */
export function refuseUnreadQuery(request: Request, _response: Response, next: NextFunction): void {
  if (request.url.includes('?')) expectRead(request);
  next();
}

function expectRead({ query, method, match: { pattern, facts } }: Request): void {
  if (pattern === undefined || facts.access !== 'key') return;
  for (const name of Object.keys(query)) {
    // Lists are written as `include=` or `include[]=`.
    if (facts.query.has(name.replace(/\[\]$/, '')) || ADDED.has(name)) continue;
    const meant = [...facts.query].find((known) => folded(known) === folded(name));
    if (meant !== undefined)
      throw refused(name, `differs from ${meant} only in how it is written; write ${meant} in the address`);
    if (isField(name, method, facts)) throw refused(name, 'cannot be sent in the address; send it in the body');
    if (isExact(facts)) throw refused(name, `cannot be sent in the address${listOf(facts.query)}`);
  }
}

const isField = (name: string, method: string, { style }: RouteFacts): boolean =>
  method === 'POST' && isTextStyle(style) && textFieldNames(style).some((field) => folded(field) === folded(name));

/** A quote is judged as the order that it is about. */
const isExact = ({ style, body }: RouteFacts): boolean => EXACT.has(style) || body === 'images';

const listOf = (known: ReadonlySet<string>): string =>
  known.size === 0 ? '' : `: it may hold ${[...known].join(', ')}`;

/** Letter case and separators are what people mistype. */
const folded = (name: string): string => name.toLowerCase().replaceAll(/[-_$[\]]/g, '');

/** The longest name that an answer repeats, in characters. */
const QUOTED_MAX = 100;

function refused(name: string, rule: string): GatewayError {
  const param = name.slice(0, QUOTED_MAX);
  return new GatewayError('unknown_parameter', `${param} ${rule}.`, { param });
}
