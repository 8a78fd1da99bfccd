// How long an operator waits for 5,000 models and a month of usage: an import of their prices, a proposal from a public list that is
// made, applied and undone, and a simulation of 100,000 records. The bar is 5 s each.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDurableServices } from '#testing';
import { startAdminGateway } from '../tests/harness/admin-gateway.js';
import { monthOfUsage } from '../tests/harness/month-of-usage.js';

const MODELS = 5_000;
const RECORDS = 100_000;
const BAR_MS = 5_000;

const services = await startDurableServices();
const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
const place = { databaseUrl: services.databaseUrl, dataDirectory, remove: () => Promise.resolve() };
const api = await startAdminGateway({}, { workers: false, place });
try {
  const names = Array.from({ length: MODELS }, (_, index) => `model-${index}`);
  const prices = names.flatMap((model) =>
    ['input_token', 'output_token'].map((unit) => ({ model, unit, amount: '2', per_quantity: 1_000_000 })),
  );
  const dated = prices.map((price) => ({ ...price, effective_from: '2026-01-01' }));
  await timed(`import of ${dated.length} prices`, () => api.admin('POST', '/prices/import', { prices: dated }));

  const entry = { mode: 'chat', input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 };
  const file = JSON.stringify(Object.fromEntries(names.map((model) => [model, entry])));
  const proposal = await timed(`proposal for ${MODELS} models`, () =>
    api.admin<{ id: string; items: { id: string }[] }>('POST', '/price-proposals', {
      source: 'litellm',
      file,
      factor: 1.1,
    }),
  );
  const { id, items } = proposal.body.data;
  const chosen = { items: items.map((item) => item.id) };
  await timed('applied', () => api.admin('POST', `/price-proposals/${id}/apply`, chosen));
  await timed('undone', () => api.admin('POST', `/price-proposals/${id}/undo`, {}));

  await api.gateway.database.query(monthOfUsage(api.gateway.accountId, RECORDS));
  const dearer = ['vendor-5', 'vendor-4-vision'].flatMap((model) =>
    ['input_token', 'output_token'].map((unit) => ({ model, unit, amount: '4', per_quantity: 1_000_000 })),
  );
  await timed(`simulation of ${RECORDS} records`, () => api.admin('POST', '/price-simulations', { prices: dearer }));
} finally {
  await api.gateway.stop();
  await services.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}

/** Does it once, and says how long it took. */
async function timed<Answer extends { readonly status: number }>(
  what: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const began = performance.now();
  const answer = await work();
  const tookMs = Math.round(performance.now() - began);
  if (answer.status !== 200) throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer)}`);
  if (tookMs > BAR_MS) process.exitCode = 1;
  console.log(`${what}: ${tookMs} ms${tookMs > BAR_MS ? `, above the bar of ${BAR_MS}` : ''}`);
  return answer;
}
