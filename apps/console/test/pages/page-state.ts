import type { Page } from 'playwright-core';
import { eventually } from '#testing';

/** Reads the next part of a list. */
export async function readOn(page: Page): Promise<void> {
  const rows = page.locator('main tbody tr');
  const first = await rows.count();
  await page.getByRole('button', { name: 'Show more' }).click();
  await eventually(async () => (await rows.count()) > first);
}

/** How much a page shows of its data. */
export const partsOf = (page: Page): Promise<string> =>
  page.evaluate(() =>
    ['main h1', 'main h2', 'main tbody tr', 'main dd', 'main .gallery > *']
      .map((selector) => `${document.querySelectorAll(selector).length} of ${selector}`)
      .join(', '),
  );

/** What a reader sees and has chosen on a page, whatever time it is. */
export const stateOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const fields = [...document.querySelectorAll<HTMLInputElement>('main :is(input, select, textarea)')];
    const values = fields.map(({ type, checked, value }) => (/^(checkbox|radio)$/.test(type) ? checked : value));
    const counts = ['main h2', 'main tbody tr', 'main .gallery > *', 'dialog[open]'].map(
      (selector) => document.querySelectorAll(selector).length,
    );
    return JSON.stringify([location.search, values, counts, Math.round(scrollY)]);
  });
