import type { CDPSession, Locator, Page } from 'playwright-core';
import type { Watched } from '../open-console.js';

/** A connection of 1.6 Mbit/s with 150 ms to the server and back. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 };
const NO_THROTTLE = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
const KEYS = 'a lighthouse in the evening';

/** When the largest part of a page was painted after its address was opened with nothing in the cache, in milliseconds. */
export async function largestPaintMs({ context, page }: Watched, url: string): Promise<number> {
  const session = await context.newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await session.send('Network.emulateNetworkConditions', SLOW);
  try {
    await page.goto(url);
    await page.locator('.tile').first().waitFor();
    return await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => {
            const last = list.getEntries().at(-1);
            if (last) resolve(last.startTime);
          }).observe({ type: 'largest-contentful-paint', buffered: true });
        }),
    );
  } finally {
    await session.send('Network.emulateNetworkConditions', NO_THROTTLE);
    await session.detach();
  }
}

/** From a key to its paint, in milliseconds: the median of many. Those below 16 ms are not distinguished by browsers. */
export async function keyToPaintMs(page: Page, field: Locator): Promise<number> {
  await page.evaluate(() => {
    const pressed: number[] = [];
    Object.assign(globalThis, { pressed });
    const observe = (list: PerformanceObserverEntryList) =>
      pressed.push(...list.getEntriesByName('keydown').map(({ duration }) => duration));
    new PerformanceObserver(observe).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
  await field.click();
  await page.keyboard.type(KEYS);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const slow = await page.evaluate(() => (globalThis as unknown as { pressed: number[] }).pressed);
  const all = [...slow, ...Array.from({ length: Math.max(0, KEYS.length - slow.length) }, () => 0)];
  return all.sort((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0;
}

/** The memory that scripts hold after so many pages and after so many more, in bytes, with what is unreachable collected. */
export async function heapAfterPages({ context, page }: Watched, few: number, many: number): Promise<[number, number]> {
  const session = await context.newCDPSession(page);
  await walk(page, few);
  const early = await heapBytes(session);
  await walk(page, many - few);
  const late = await heapBytes(session);
  await session.detach();
  return [early, late];
}

async function heapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

/** Goes from page to page by the menu, each once it is painted, inside of the browser. */
export const walk = (page: Page, count: number): Promise<void> =>
  page.evaluate(async (pages) => {
    for (let number = 0; number < pages; number += 1) {
      const menu = [...document.querySelectorAll<HTMLAnchorElement>('nav a[href^="/console/"]')];
      menu[number % menu.length]?.click();
      await new Promise((resolve) => requestAnimationFrame(resolve));
      while (document.querySelector('.skeleton, .dimmed')) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }, count);
