import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import send from 'send';
import type { ProcessConfig } from '#runtime';

/** Where the build puts the pages, seen from the sources and from what is built of them. */
const BESIDE = fileURLToPath(new URL('../../../../', import.meta.url));
export const CONSOLE_FOLDER = existsSync(join(BESIDE, 'package.json'))
  ? join(BESIDE, 'dist/console')
  : join(BESIDE, 'console');

const INDEX = 'index.html';
/** The build names these after what is in them. */
const HASHED = /^\/assets\//;
const YEAR_MS = 365 * 86_400_000;

/**
 * The pages of the console below /console: files of the build, and its first page for every address that a browser
 * opens. A missing file stays missing: a page in place of a script would only be a white page.
 */
export function consolePages(config: ProcessConfig, folder = CONSOLE_FOLDER): RequestHandler {
  const policy = contentPolicy(mediaOrigins(config));
  return (request: Request, response: Response, next: NextFunction) => {
    if (request.path === '/api' || request.path.startsWith('/api/')) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    if (request.originalUrl === '/console') return response.redirect(301, '/console/');
    response.setHeader('content-security-policy', policy);
    response.setHeader('cross-origin-resource-policy', 'same-origin');
    sendPage(request, response, folder);
  };
}

/** Leads browsers that open the bare address to the console; programs get the 404 that they know. */
export function redirectBrowsers(request: Request, response: Response, next: NextFunction): void {
  const isBrowser = request.path === '/' && request.method === 'GET' && request.accepts(['json', 'html']) === 'html';
  if (isBrowser) response.redirect(302, '/console/');
  else next();
}

function sendPage(request: Request, response: Response, folder: string): void {
  const { path } = request;
  const isHashed = HASHED.test(path);
  const file = path === '/' ? `/${INDEX}` : path;
  const encoded = isHashed && acceptsBrotli(request) && existsSync(join(folder, `${safe(file)}.br`));
  const stream = send(request, encoded ? `${file}.br` : file, {
    root: folder,
    index: false,
    dotfiles: 'ignore',
    cacheControl: false,
  });
  stream.on('headers', (answer: Response) => {
    answer.setHeader('cache-control', isHashed ? `public, max-age=${YEAR_MS / 1000}, immutable` : 'no-cache');
    if (isHashed) answer.setHeader('vary', 'accept-encoding');
    if (!encoded) return;
    answer.setHeader('content-encoding', 'br');
    answer.type(file.slice(file.lastIndexOf('.') + 1));
  });
  stream.on('directory', () => missing(request, response, folder));
  stream.on('error', () => missing(request, response, folder));
  stream.pipe(response);
}

const acceptsBrotli = (request: Request): boolean => request.acceptsEncodings(['br', 'identity']) === 'br';

/** Only names that the build makes are looked for. */
const safe = (file: string): string => (/^[\w./-]+$/.test(file) && !file.includes('..') ? file : '/missing');

/** Every address of the console is one page; only browsers that ask for a page get it. */
function missing(request: Request, response: Response, folder: string): void {
  if (response.headersSent) return void response.end();
  const wantsPage = request.accepts(['json', 'html']) === 'html' && !HASHED.test(request.path);
  if (wantsPage && existsSync(join(folder, INDEX))) {
    response.setHeader('cache-control', 'no-cache');
    send(request, `/${INDEX}`, { root: folder, cacheControl: false }).pipe(response);
    return;
  }
  const words = wantsPage
    ? 'The console is not built: run "npm run build". The admin API and /metrics do without it.'
    : 'There is no such file.';
  response.setHeader('cache-control', 'no-store');
  response.status(404).type('text').send(`${words}\n`);
}

/** Where browsers may load media from besides the gateway itself: what its links lead to. */
export function mediaOrigins({ media }: Pick<ProcessConfig, 'media'>): string[] {
  const { MEDIA_S3_BUCKET: bucket, MEDIA_S3_ENDPOINT, MEDIA_S3_PUBLIC_BASE_URL, MEDIA_S3_REGION: region } = media;
  if (bucket === undefined) return [];
  const store = MEDIA_S3_ENDPOINT ?? `https://${bucket}.s3.${region}.amazonaws.com`;
  const origins = [store, MEDIA_S3_PUBLIC_BASE_URL].flatMap((url) => (url === undefined ? [] : new URL(url).origin));
  return [...new Set(origins)];
}

/** Nothing runs but scripts of the build, and nothing is loaded from elsewhere but media. */
function contentPolicy(media: readonly string[]): string {
  const from = media.map((origin) => ` ${origin}`).join('');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${from}`,
    `media-src 'self' blob:${from}`,
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
