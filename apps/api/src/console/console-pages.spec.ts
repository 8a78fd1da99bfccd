import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import express from 'express';
import { readProcessConfig } from '#runtime';
import { consolePages, redirectBrowsers, mediaOrigins } from './console-pages.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const SCRIPT = 'console.log("the console")';

describe('The pages of the console', () => {
  let server: Server;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-'));
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>Console</title>');
    await writeFile(join(folder, 'theme.js'), 'document.documentElement');
    await writeFile(join(folder, 'assets/index-abc123.js'), SCRIPT);
    await writeFile(join(folder, 'assets/index-abc123.js.br'), brotliCompressSync(SCRIPT));
    const app = express();
    app.use(redirectBrowsers);
    app.use('/console', consolePages(readProcessConfig({}), folder));
    app.use((_request, response) => void response.status(404).json({ code: 404 }));
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers, redirect: 'manual' });

  it('are where browsers are redirected from the root path, which is unchanged for programs', async () => {
    const led = await get('/', BROWSER);
    expect([led.status, led.headers.get('location')]).toEqual([302, '/console/']);
    expect((await get('/', { accept: 'application/json' })).status).toBe(404);
    expect((await get('/')).status).toBe(404);
    expect((await get('/console')).headers.get('location')).toBe('/console/');
  });

  it.each(['/console/', '/console/tasks/task_1?model=x', '/console/admin/prices'])(
    'are served by the same page: %s',
    async (path) => {
      const page = await get(path, BROWSER);
      expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      expect(await page.text()).toContain('<title>Console</title>');
    },
  );

  it('have a content security policy for their own scripts and the media host', async () => {
    const policy = (await get('/console/', BROWSER)).headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]),
    );
    expect(policy).not.toContain('unsafe');
    const bucket = { MEDIA_S3_BUCKET: 'videos', MEDIA_S3_ACCESS_KEY_ID: 'id', MEDIA_S3_SECRET_ACCESS_KEY: 'secret' };
    expect(mediaOrigins(readProcessConfig(bucket))).toEqual(['https://videos.s3.us-east-1.amazonaws.com']);
    const own = {
      MEDIA_S3_ENDPOINT: 'http://minio:9000/x',
      MEDIA_S3_PUBLIC_BASE_URL: 'https://cdn.example.com/videos',
    };
    expect(mediaOrigins(readProcessConfig({ ...bucket, ...own }))).toEqual([
      'http://minio:9000',
      'https://cdn.example.com',
    ]);
  });

  it('send hashed files as immutable, compressed when the client accepts it, and other files as they are now', async () => {
    const plain = await get('/console/assets/index-abc123.js', { 'accept-encoding': 'identity' });
    expect([plain.headers.get('cache-control'), plain.headers.get('content-encoding'), await plain.text()]).toEqual([
      'public, max-age=31536000, immutable',
      null,
      SCRIPT,
    ]);
    const small = await get('/console/assets/index-abc123.js', { 'accept-encoding': 'gzip, br' });
    expect([small.headers.get('content-encoding'), small.headers.get('content-type'), await small.text()]).toEqual([
      'br',
      'text/javascript; charset=utf-8',
      SCRIPT,
    ]);
    expect((await get('/console/theme.js')).headers.get('cache-control')).toBe('no-cache');
  });

  it.each([
    ['a missing script, also to a browser', '/console/assets/gone-000000.js', BROWSER],
    ['what is no page', '/console/nothing.json', { accept: 'application/json' }],
    ['a way out of the folder', '/console/..%2f..%2fpackage.json', { accept: '*/*' }],
    ['the interface of the pages', '/console/api/session', { accept: 'application/json' }],
  ])('are not served in place of %s', async (_what, path, headers: Record<string, string>) => {
    const answer = await get(path, headers);
    expect([answer.status, (await answer.text()).includes('<title>')]).toEqual([404, false]);
  });
});
