import { Health } from '../health/health.js';
import { MetricsPage } from '../metrics/metrics-page.js';
import { type OpsServer, startOpsServer } from './ops-server.js';
import { reservePort } from '../reserve-port.js';

describe('The server for operators', () => {
  const health = new Health([]);
  const metrics = new MetricsPage();
  let server: OpsServer;
  let url: string;

  beforeAll(async () => {
    const wish = { port: 0, host: '127.0.0.1', portVariable: 'OPS_PORT', hostVariable: 'OPS_HOST' };
    server = startOpsServer(await reservePort(wish), { health, metrics });
    url = `http://127.0.0.1:${server.port}`;
  });
  afterAll(() => server.close());

  it('reports that the process is alive, and its version', async () => {
    const answer = await fetch(`${url}/healthz`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ status: 'alive', version: expect.stringMatching(/^\d+\./) as string });
  });

  it('serves every series with the event-loop lag among them', async () => {
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await answer.text()).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
  });

  it('keeps serving metrics when a source fails, and counts the failure', async () => {
    const page = new MetricsPage();
    page.add({ name: 'broken', collect: () => Promise.reject(new Error('away')) });
    expect(await page.render()).toMatch(/^gateway_metrics_source_failures_total\{source="broken"\} 1$/m);
  });

  it('answers 503 on /readyz while draining, and 404 elsewhere', async () => {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    health.drain();
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/v1/tasks`)).status).toBe(404);
  });
});
