import { configureLog } from '#platform';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

describe('The log of refused and failed requests', () => {
  let gateway: TestGateway;
  const lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
    configureLog(
      { LOG_LEVEL: 'info' },
      { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
  });
  afterAll(() => gateway.stop());

  it('logs a refused and an answered request under the request id returned to its client', async () => {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const refused = await gateway.send('POST', '/v1/responses', { model: 'no-such-model', input: 'hello' }, headers);
    const answered = await gateway.send('POST', '/v1/responses', { model: 'vendor-5', input: 'hello' }, headers);
    const requestIdOf = (event: string): unknown => lines.find((line) => line['event'] === event)?.['requestId'];
    expect(requestIdOf('request.completed')).toBe(refused.headers.get('x-request-id'));
    const line = lines.find(({ requestId }) => requestId === answered.headers.get('x-request-id'));
    expect(line).toMatchObject({ event: 'request.completed', model: 'vendor-5', upstream: 'sandbox', status: 200 });
  });
});
