import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

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

/** Sets the security headers of an answer. */
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
