import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const REFUSED = 'with a wrong field';
const MOST = 4;

describe('An account whose requests a vendor refuses for what they hold', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({ ADMIN_TOKEN, FREE_REQUESTS_PER_MINUTE: String(MOST) });
    const error = { message: 'The field is wrong.', type: 'invalid_request_error' };
    gateway.vendor.spoiled.set(REFUSED, { status: 400, body: { error } });
  });
  afterAll(() => gateway.stop());

  async function newTenant(): Promise<string> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const create = async (path: string, body: object): Promise<{ readonly id: string; readonly key: string }> =>
      (await gateway.send<{ data: { id: string; key: string } }>('POST', `/admin/v1${path}`, body, headers)).body.data;
    const { id } = await create('/accounts', { name: 'Refused', unlimited: true });
    return (await create(`/accounts/${id}/keys`, { name: 'loop' })).key;
  }

  async function ask(key: string, nth: number, text: string) {
    const style = STYLES[nth % STYLES.length] ?? 'chat';
    const { path, body, headers } = textRequest(style, { key, model: MODEL_OVER.chat, stream: nth % 2 === 0, text });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, content: await answer.text(), wait: Number(answer.headers.get('retry-after')) };
  }

  it('gets 429 when they are as many in a minute as free requests may be, and delays no other account', async () => {
    const key = await newTenant();
    for (let nth = 0; nth < MOST; nth += 1) expect((await ask(key, nth, REFUSED)).status).toBe(400);
    // Their count is told a moment after the answer.
    const over = await eventually(async () => {
      const answer = await ask(key, 0, 'Hello');
      return answer.status === 429 && answer;
    });
    expect(over.content).toContain('refuses');
    expect(over.wait).toBeGreaterThan(0);
    expect(over.wait).toBeLessThanOrEqual(60);
    const asked = gateway.vendor.seen.length;
    for (let nth = 0; nth < 4; nth += 1) expect((await ask(key, nth, 'Hello')).status).toBe(429);
    expect(gateway.vendor.seen.length).toBe(asked);
    expect((await ask(await newTenant(), 0, 'Hello')).status).toBe(200);
  });

  it('is not refused for what the vendor itself could not do, nor for what was paid', async () => {
    const key = await newTenant();
    gateway.vendor.spoiled.set('with a broken vendor', { status: 500, body: { error: { message: 'boom' } } });
    for (let nth = 0; nth < 2; nth += 1) expect((await ask(key, nth, 'with a broken vendor')).status).toBe(502);
    for (let nth = 0; nth < MOST + 2; nth += 1) expect((await ask(key, nth, 'Hello')).status).toBe(200);
  });
});
