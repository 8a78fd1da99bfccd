import type { Request } from 'express';
import { CONSOLE_VERSION } from '#contracts';
import { ConsoleRefusal } from '../http/console-refusal.js';

/**
 * Lets only pages of the gateway itself change something: what a form, a link or a script of another site can send has
 * another origin, and lacks the header.
 *
 * @param publicOrigin the origin that PUBLIC_BASE_URL names.
 * @throws ConsoleRefusal `cross_site`, `reload_required`.
 */
export function expectOwnPage(request: Request, publicOrigin: string): void {
  const version = request.get('x-console');
  if (!isFromOwnPage(request, publicOrigin) || version === undefined || !request.is('application/json')) {
    throw new ConsoleRefusal(
      'cross_site',
      'Changes come from pages of the console only: as application/json, with the header X-Console.',
    );
  }
  expectVersion(version);
}

/** @throws ConsoleRefusal `reload_required`: the page is older than the gateway. */
export function expectVersion(version: string): void {
  if (Number(version) >= CONSOLE_VERSION) return;
  throw new ConsoleRefusal('reload_required', 'The gateway is newer than this page: load it again.');
}

/** Browsers leave `Sec-Fetch-Site` out on plain HTTP to other machines, but name the origin of every change. */
function isFromOwnPage({ headers }: Request, publicOrigin: string): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || !URL.canParse(origin)) return false;
  return origin === publicOrigin || new URL(origin).host === host;
}
