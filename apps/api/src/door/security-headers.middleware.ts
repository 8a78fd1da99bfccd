import type { Response } from 'express';
import helmet from 'helmet';

/**
 * What browsers are told about every answer: nothing may be run or framed, types are not guessed. Files may be shown
 * by other sites, because their links are made for that.
 */
export const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  // Whether the gateway is reached over HTTPS only is known to whoever ends TLS in front of it.
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
});

const PAGE_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'self'",
  "form-action 'self'",
].join('; ');

/** Lets a page of ours load its own scripts, styles and pictures, and nothing from elsewhere. */
export function allowOwnPage(response: Response): void {
  response.setHeader('content-security-policy', PAGE_POLICY);
}
