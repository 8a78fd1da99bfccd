// Writes the images of the documentation: pages of the console over a gateway with a day of work, as the tests open them.
// `npm run console-screenshots`.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startBrowser, startDurableServices } from '#testing';
import { consoleLinks } from '../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../tests/harness/test-gateway.js';
import { dress, enter, loaded, openConsole } from './open-console.js';

const FOLDER = 'docs/images';
const PROMPTS = [
  'waves against a lighthouse at dusk',
  'a red fox in fresh snow',
  'rain on a tin roof, macro',
  'a paper boat crossing a puddle',
] as const;
const WEBP_QUALITY = 0.85;
const MOST_LOOKS = 20;
const LOOK_EVERY_MS = 700;
const SIZE = { width: 1280, height: 800 };

const services = await startDurableServices();
const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-images-'));
const place = { databaseUrl: services.databaseUrl, dataDirectory, remove: () => Promise.resolve() };
const gateway = await startTestGateway({ place });
const browser = await startBrowser();
try {
  const task = await work(gateway);
  const links = await consoleLinks(gateway);
  const { page } = await openConsole(browser, gateway.baseUrl, { viewport: SIZE });
  await enter(page, await links.next());
  await links.close();
  await image(page, '/', 'light', 'overview');
  await image(page, `/tasks/${task}`, 'light', 'task');
  await image(page, '/tasks', 'dark', 'gallery');
  await image(page, '/playground?model=beta-2.5-preview', 'dark', 'playground');
} finally {
  await browser.close();
  await gateway.stop();
  await services.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}

/** Orders videos, images and texts, some of them on days before; answers the id of a video. */
async function work(busy: TestGateway): Promise<string> {
  const ids: string[] = [];
  for (const prompt of PROMPTS) {
    const video = { model: 'beta-2.5-preview', prompt, resolution: '480p', size: '16:9', duration: 5 };
    ids.push(await busy.submit('/v1/videos/generations', video));
    const image = { model: 'eta-image-2.0', prompt, size: '16:9', resolution: '1K' };
    ids.push(await busy.submit('/v1/images/generations', image));
    await busy.send('POST', '/v1/responses', { model: 'vendor-5', input: prompt });
  }
  for (const id of ids) await busy.waitForTask(id, 120_000);
  // The days before, as the sums keep them.
  await busy.database.query({
    text: `insert into usage_daily (account_id, day, model, api_key_id, kind, requests, amount_micros)
      select account_id, day - n, model, api_key_id, kind, requests * (1 + n % 5), amount_micros * (2 + (n * 7) % 11) / 4
      from usage_daily, generate_series(1, 29) n`,
  });
  return ids[0] ?? '';
}

async function image(page: Page, path: string, theme: 'light' | 'dark', name: string): Promise<void> {
  await page.goto(`${gateway.baseUrl}/console${path}`);
  await dress(page, theme, SIZE.width);
  await page.setViewportSize(SIZE);
  await loaded(page);
  await page.waitForLoadState('networkidle');
  await videosAtRest(page);
  const png = await stillOf(page);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, `console-${name}.webp`), await toWebp(page, png));
}

/** An image of the page once nothing on it moves: the player of a video turns its wheel for a while after it is ready. */
async function stillOf(page: Page): Promise<Buffer> {
  let png = await page.screenshot();
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    await page.waitForTimeout(LOOK_EVERY_MS);
    const next = await page.screenshot();
    if (next.equals(png)) return next;
    png = next;
  }
  throw new Error(`${page.url()} does not settle`);
}

/** Waits until every video shows its first image, and its player no sign of loading any more. */
async function videosAtRest(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [...document.querySelectorAll<HTMLVideoElement>('video[src]')].every(
      ({ readyState, networkState }) =>
        readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && networkState === HTMLMediaElement.NETWORK_IDLE,
    ),
  );
}

/** The browser itself encodes: a tenth of the bytes. */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const blank = await page.context().browser()?.newPage();
  if (!blank) throw new Error('the browser has gone');
  const url = await blank.evaluate(
    async ([source, quality]) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      canvas.getContext('2d')?.drawImage(image, 0, 0);
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality });
      return Array.from(new Uint8Array(await blob.arrayBuffer()));
    },
    [`data:image/png;base64,${png.toString('base64')}`, WEBP_QUALITY] as const,
  );
  await blank.close();
  return Buffer.from(url);
}
