import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { describeWhere } from './describe-where.js';

/** Where Debian, Ubuntu and macOS put the browser; the one without windows first, which costs half of the processor. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** How long each step on a page may take, in milliseconds: less than a test has, so that the step that never happens is named. */
const STEP_MS = 240_000;

const findBrowser = (): string | undefined => PLACES.find((place) => existsSync(place));

/**
 * A suite that needs a real Chromium. Without one it fails when `CI` is set, and is skipped elsewhere.
 * `start` opens a browser of the suite's own; close it in `afterAll`.
 */
export function describeWithBrowser(name: string, suite: (start: () => Promise<Browser>) => void): void {
  const needed = {
    found: findBrowser() === undefined ? undefined : startBrowser,
    instead: startBrowser,
    title: 'has a Chromium to open its pages in',
    missing: 'chromium is missing: install it.',
  };
  describeWhere(name, needed, suite);
}

/** Opens a browser; close it after use. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('chromium is missing: install it.');
  // Loaded only here: most suites, and the processes of the crash tests, need no browser.
  const { chromium } = await import('playwright-core');
  // Root may not use the sandbox of the browser, and it opens our own pages only.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  const browser = await chromium.launch({ executablePath, args });
  // Where each page had to say so itself, some kept the half minute of Playwright.
  browser.on('context', (context) => context.setDefaultTimeout(STEP_MS));
  return browser;
}
