import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Locator, Page, Request, Route } from 'playwright-core';
import { eventually } from '#testing';
import type { ConsoleClient } from '../../../tests/harness/console-client.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules whose outcome depends on colours and widths; the rest is the same in every theme and width. */
const LOOK_RULES = ['color-contrast', 'target-size', 'scrollable-region-focusable'];
/** In pixels. */
export const WIDTHS = { wide: 1280, narrow: 390 } as const;

/** What a page of the console does wrong by itself: errors, refused scripts, requests to elsewhere. */
export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly complaints: string[];
  /** Data requests since the last call of `forget`. */
  readonly requests: string[];
  /** Those that are not answered; event streams, which have no end, are not among them. */
  readonly unanswered: Set<Request>;
}

/** A browser of one person, without motion so that images are final. Failed requests of tests are no complaint. */
export async function openConsole(
  browser: Browser,
  baseUrl: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  const unanswered = new Set<Request>();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`a script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(baseUrl) && !/^(blob|data):/.test(url)) complaints.push(`a request to elsewhere: ${url}`);
    if (url.includes('/console/api/'))
      requests.push(`${request.method()} ${new URL(url).pathname.replace('/console/api', '')}`);
    if (/\/console\/api\/(?!tasks\/events)/.test(url)) unanswered.add(request);
  });
  page.on('requestfinished', (request) => unanswered.delete(request));
  page.on('requestfailed', (request) => unanswered.delete(request));
  return { context, page, complaints, requests, unanswered };
}

/** @throws Error naming what a page did wrong by itself. */
export function expectNoComplaint({ complaints }: Watched): void {
  if (complaints.length > 0) throw new Error(`the pages complain: ${complaints.join('; ')}`);
}

/** Signs in by a one-time link and waits for the first page. */
export async function enter(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.waitForURL(/\/console\/$/);
  await loaded(page);
}

/** Waits until a page has its heading and nothing on it is a placeholder. */
export const loaded = (page: Page) =>
  page.waitForFunction(() => document.querySelector('h1') !== null && !document.querySelector('.skeleton, .dimmed'));

/** Waits until nothing is requested any more either, such as what a window above the page is filled with, and it is painted. */
export async function settled({ page, unanswered }: Watched): Promise<void> {
  await loaded(page);
  await eventually(() => unanswered.size === 0);
  await painted(page);
}

/** Has the page in a theme and a language from its next load on. */
export const prefer = (page: Page, values: Readonly<Record<string, string>>) =>
  page.evaluate((entries) => {
    for (const [name, value] of entries) localStorage.setItem(`console.${name}`, value);
  }, Object.entries(values));

/** Shows the page in a theme and a width, without loading it again, and those after it from their load on. */
export async function dress(page: Page, theme: 'light' | 'dark', width: number): Promise<void> {
  if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height: 900 });
  await page.evaluate(async (chosen) => {
    localStorage.setItem('console.theme', chosen);
    document.documentElement.dataset['theme'] = chosen;
    // Until it is painted. Endless animations, such as of a running task, are not waited for.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const ending = document.getAnimations().filter(({ effect, playState }) => {
      const end = Number(effect?.getComputedTiming().endTime);
      return playState === 'running' && Number.isFinite(end);
    });
    await Promise.all(ending.map((animation) => animation.finished.catch(() => undefined)));
  }, theme);
}

/** Violations of accessibility on the page as it is, one line each. */
export async function violations(page: Page, { looksOnly = false } = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  return page.evaluate(
    async ([tags, looks, only]) => {
      const { axe } = globalThis as unknown as {
        axe: {
          run: (
            root: Document,
            options: object,
          ) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
        };
      };
      const runOnly = only ? { type: 'rule', values: looks } : { type: 'tag', values: tags };
      const { violations: found } = await axe.run(document, { runOnly, resultTypes: ['violations'] });
      return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
    },
    [RULES, LOOK_RULES, looksOnly] as const,
  );
}

/** Sentences that the pseudo language does not mark: they do not come from the messages. Names of things are no sentences. */
export async function bareSentences(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() =>
    [
      ...document.querySelectorAll('h1, h2, h3, nav a, .group-name, dt, legend, main button:not(.swatch), .page-lead'),
    ].map((element) => element.textContent?.trim() ?? ''),
  );
  const bare = texts.filter((text) => /[A-Za-z]{3}/.test(text) && !text.includes('⟦'));
  return bare.filter((text) => !/^(curl|JavaScript|Python|\d+p|.*-\d.*)$/.test(text));
}

/** Sentences of the page itself that are English: two words beside each other. Names of things and code are none. */
export const englishSentences = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        'nav a, .group-name, main h2, dt, legend, th[scope=col], .page-lead, .hint, main button',
      ),
    ]
      .map((element) => element.textContent?.trim() ?? '')
      .filter((text) => /[a-z]{3,} [a-z]{3,}/i.test(text) && !/[\u4e00-\u9fff]/.test(text)),
  );

/** How far the page reaches beyond the screen to the right, in pixels. */
export const overhang = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth));

/** Plays a video until its first image is shown; answers how wide that is, in pixels. */
export const playedWidth = (video: Locator): Promise<number> =>
  video.evaluate(async (element: HTMLVideoElement) => {
    element.muted = true;
    await element.play();
    while (element.currentTime === 0) await new Promise((resolve) => element.requestVideoFrameCallback(resolve));
    return element.videoWidth;
  });

/** Counts from the next load on how much of the page moves after it was painted, as browsers do. */
export const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: number[] = [];
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { hadRecentInput: boolean; value: number })[])
        if (!entry.hadRecentInput) shifts.push(entry.value);
    }).observe({ type: 'layout-shift', buffered: true });
  });

/** The layout shift of the page since its load. */
export const shiftOf = async (page: Page): Promise<number> => {
  await painted(page);
  return page.evaluate(() =>
    (globalThis as unknown as { shifts: number[] }).shifts.reduce((sum, shift) => sum + shift, 0),
  );
};

const painted = (page: Page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/**
 * Has every page painted without its data first, and then answers the last question first: in the order in which most
 * can move.
 */
export async function answerLastFirst(page: Page): Promise<void> {
  const held: Route[] = [];
  let isReleasing = false;
  const release = async (): Promise<void> => {
    await page.locator('h1').first().waitFor();
    while (held.length > 0) {
      await painted(page);
      await held.pop()?.fallback();
    }
  };
  const hold = async (route: Route): Promise<void> => {
    if (route.request().url().endsWith('/api/session')) return route.fallback();
    held.push(route);
    if (isReleasing) return;
    isReleasing = true;
    // A page that was left takes its questions along.
    await release().catch(() => held.splice(0));
    isReleasing = false;
  };
  await page.route('**/console/api/**', hold);
}

/** Moves the focus by the keyboard until it is on what the selector names. @throws Error when it never gets there. */
export async function tabTo(page: Page, selector: string, most = 80): Promise<void> {
  // A page that is still coming has fewer places to stop at than keys will be pressed.
  await page.locator(selector).first().waitFor();
  for (let count = 0; count < most; count += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${selector}`);
}

/** The visual faults of the page in a variant such as `dark narrow`, one line each. */
export async function wrongLooks(
  page: Page,
  looks: readonly string[],
  { isWhole }: { readonly isWhole: (look: string) => boolean },
): Promise<string[]> {
  const wrong: string[] = [];
  for (const look of looks) {
    const [theme, width] = look.split(' ') as ['light' | 'dark', keyof typeof WIDTHS];
    await dress(page, theme, WIDTHS[width]);
    const beyond = await overhang(page);
    const found = await violations(page, { looksOnly: !isWhole(look) });
    wrong.push(
      ...[...found, ...(beyond > 0 ? [`${beyond} px beyond the screen`] : [])].map((each) => `${look}: ${each}`),
    );
  }
  return wrong;
}

/** Every page that needs a session. */
export const pagesOf = (accountId: string, taskId: string, failedTaskId: string): string[] => [
  '/',
  '/playground',
  '/tasks',
  '/tasks?view=table',
  `/tasks/${taskId}`,
  `/tasks/${failedTaskId}`,
  '/usage',
  '/agent-sessions',
  '/billing',
  '/keys',
  '/webhooks',
  '/prompt-log',
  '/models',
  '/models/beta-2.5-preview',
  '/account',
  '/admin/health',
  '/admin/accounts',
  `/admin/accounts/${accountId}`,
  `/admin/accounts/${accountId}/prompt-log`,
  '/admin/people',
  '/admin/prices',
  '/admin/prices/models/vendor-5',
  '/admin/prices/proposals',
  '/admin/prices/lists',
  '/admin/prices/simulation',
  '/admin/upstreams',
  '/admin/tasks',
  `/admin/tasks/${taskId}`,
  '/admin/deliveries',
  '/admin/workers',
  '/admin/margins',
  '/admin/agent-sessions',
  '/admin/reconciliation',
  '/admin/audit',
];

/** The pages of single things that `pagesOf` does not name, each with one that is made for it. */
export async function detailPages(owner: ConsoleClient): Promise<string[]> {
  const { body: made } = await owner.call('POST /keys', { name: 'looked at' });
  const { body: hook } = await owner.call('POST /webhooks/endpoints', { url: 'https://example.com/hook' });
  const test = `/webhooks/endpoints/${hook.endpoint.id}/test`;
  const { body: sent } = await owner.call('POST /webhooks/endpoints/:endpoint_id/test', {}, test);
  const { body: entries } = await owner.call('GET /billing/entries');
  const upstream = { kind: 'text', id: 'studio-vendor', protocol: 'chat', base_url: 'https://vendor.example/v1' };
  const models = { 'studio-model': 'their-model' };
  await owner.call('POST /admin/upstreams', { ...upstream, key: 'sk-of-the-vendor-0123456789', models });
  const listed = { litellm_provider: 'openai', input_cost_per_token: 1e-6, output_cost_per_token: 5e-6 };
  const file = JSON.stringify({ 'their-model': listed, 'other-model': listed });
  const { body: proposal } = await owner.call('POST /admin/price-proposals', { source: 'litellm', file });
  await owner.call('POST /admin/price-lists', { id: 'gold', name: 'Gold', rules: [{ model: '*', factor: '0.9' }] });
  return [
    `/admin/prices/proposals/${proposal.id}`,
    '/admin/prices/lists/gold',
    `/keys/${made.key.id}`,
    `/webhooks/deliveries/${sent.delivery_id}`,
    `/billing/entries/${entries.items[0]?.id}`,
    `/admin/upstreams/${upstream.id}`,
  ];
}

/** An answer of the console that refuses. */
export const refusal = (status: number, code: string, requestId: string) => ({
  status,
  json: { error: { code, message: code, field: null, problems: [], request_id: requestId, retry_after_seconds: null } },
});
