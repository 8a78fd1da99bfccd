import type { Request } from 'express';

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
