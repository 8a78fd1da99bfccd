// Submissions that all pay from one account, against the same spread over 64 accounts: holds must not queue up.
import { freePort } from '#testing';
import { type Contender, measure, printTable, startServer } from './measure.js';
import { BENCH_BODY } from './gateway-pair.js';
import { gatewayEnvironment, startBenchServices } from './services.js';

const ADMIN_TOKEN = 'an-admin-token-for-benchmarks';
const ACCOUNTS = 64;

const services = await startBenchServices();
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const gateway = await startServer(['dist/apps/api/src/main.js'], port, {
  ...gatewayEnvironment(services),
  ADMIN_TOKEN,
  OPEN_TASKS_PER_ACCOUNT: '10000000',
});
try {
  const keys = await Promise.all(Array.from({ length: ACCOUNTS }, newKey));
  const [hot = ''] = keys;
  const results = await measure([contender('64 accounts', keys), contender('1 account', [hot])]);
  printTable('Holds on one hot account', results);
} finally {
  gateway.kill();
  await services.stop();
}

function contender(name: string, keys: readonly string[]): Contender {
  const [request, ...furtherRequests] = keys.map((key) => ({
    method: 'POST' as const,
    path: '/v1/videos/generations',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: BENCH_BODY,
  }));
  if (!request) throw new Error('no key to pay with');
  return { name, url, process: gateway, request, furtherRequests };
}

/** A key of an account of its own, with money for the whole run. */
async function newKey(): Promise<string> {
  const { id } = await admin('/accounts', { name: 'bench' });
  await admin(`/accounts/${id}/top-ups`, { amount: '1000000', reference: 'bench' });
  const { key } = await admin(`/accounts/${id}/keys`, { name: 'bench' });
  return key ?? '';
}

async function admin(path: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/admin/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify(body),
  });
  return ((await answer.json()) as { data: Record<string, string> }).data;
}
