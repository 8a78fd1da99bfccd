import { describeWithBrowser } from '#testing';
import type { Browser } from 'playwright-core';
import { startTestGateway, type TestGateway } from '../../../../../tests/harness/test-gateway.js';

describeWithBrowser('The documentation page in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  it('renders every operation without an error and without requests to other hosts', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const strangers: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(gateway.baseUrl) && !request.url().startsWith('data:'))
        strangers.push(request.url());
    });
    await page.goto(`${gateway.baseUrl}/docs`);
    await page.getByText('/v1/videos/generations').first().waitFor();
    expect(await page.locator('.opblock').count()).toBeGreaterThan(18);
    await page.getByText('/v1/images/edits').first().click();
    await page.getByText('iota-1.0-edit-reseller').first().waitFor();
    expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] });
  });
});
