import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#contracts';
import type { Environment } from '#platform';
import { TARGETS, type Sender } from './targets.js';
import { type AdminGateway, startAdminGateway } from '../tests/harness/admin-gateway.js';
import { consoleClient, OWN_PAGE } from '../tests/harness/console-client.js';
import type { TestGateway, TestGatewayOptions } from '../tests/harness/test-gateway.js';

const ACCOUNTS = 4;

/** A gateway with several accounts, whose limits of free work are out of the way. */
export interface HostileGateway {
  readonly gateway: TestGateway;
  readonly keys: readonly string[];
  /** The operator's. */
  readonly token: string;
  readonly people: People;
}

/** The senders without a key: the headers of each, and the ids that stand in place of words in braces of targets. */
export interface People {
  readonly headers: Readonly<Record<Exclude<Sender, 'key'>, Readonly<Record<string, string>>>>;
  readonly ids: Readonly<Record<string, string>>;
}

/** In the file, so that an upstream that a body adds takes nobody's place. */
async function sandboxes(): Promise<string> {
  const names = TARGETS.flatMap(({ path, good }) => {
    const model = /models\/(.*):/.exec(path)?.[1] ?? (good as { readonly model?: string }).model;
    return model === undefined ? [] : [[model, model] as const];
  });
  const written = names.filter(([model]) => model.startsWith('vendor-'));
  const file = join(await mkdtemp(join(tmpdir(), 'hostile-')), 'upstreams.json');
  const upstreams = [{ id: 'writes', protocol: 'sandbox', models: Object.fromEntries(written) }];
  const media = [{ id: 'draws', protocol: 'sandbox', models: 'all' }];
  await writeFile(file, JSON.stringify({ upstreams, media_upstreams: media }));
  return file;
}

/** Starts a gateway and makes accounts that may do anything. */
export async function startHostileGateway(
  environment: Environment = {},
  options: TestGatewayOptions = {},
): Promise<HostileGateway> {
  const { UPSTREAMS_FILE = await sandboxes() } = environment;
  const limits = { UPSTREAMS_FILE, FREE_REQUESTS_PER_MINUTE: '10000000', TRUSTED_PROXIES: 'loopback' };
  const api = await startAdminGateway({ ...limits, ...environment }, options);
  const keys: string[] = [];
  for (let made = 0; made < ACCOUNTS; made += 1) {
    const account = await api.newAccount({ unlimited: true });
    keys.push((await api.newKey(account.id)).key);
  }
  const people = await signIn(api);
  const ids = { ...people.ids, ...(await ownedBy(api, keys[0] ?? '')), ...(await pricedBy(api)) };
  return { gateway: api.gateway, keys, token: api.token, people: { ...people, ids } };
}

/** What an account has that bodies name. */
async function ownedBy(api: AdminGateway, key: string): Promise<People['ids']> {
  const made = async (path: string, body: object, idIn: (answer: JsonObject) => unknown): Promise<string> =>
    String(idIn((await api.withKey(key, path, 'POST', body)).body));
  const byId = ({ id }: JsonObject): unknown => id;
  const form = new FormData();
  form.append('purpose', 'assistants');
  form.append('file', new Blob(['The keeper of the lighthouse.']), 'keeper.txt');
  const headers = { authorization: `Bearer ${key}` };
  const uploaded = await fetch(`${api.gateway.baseUrl}/v1/files`, { method: 'POST', headers, body: form });
  const file = String(byId((await uploaded.json()) as JsonObject));
  const store = await made('/v1/vector_stores', { name: 'harbour', file_ids: [file] }, byId);
  const image = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
  const hook = { url: 'https://hooks.example.com/b' };
  return {
    file,
    store,
    batch: await made(`/v1/vector_stores/${store}/file_batches`, { file_ids: [file] }, byId),
    task: await made('/v1/images/generations', image, ({ data }) => (data as JsonObject[])[0]?.['task_id']),
    endpoint: await made('/v1/webhooks/endpoints', hook, ({ data }) => (data as JsonObject)['id']),
    response: await made('/v1/responses', { model: 'vendor-5', input: 'hello', store: true }, byId),
  };
}

/** What operators have that bodies name. */
async function pricedBy(api: AdminGateway): Promise<People['ids']> {
  await api.admin('POST', '/price-lists', { id: 'friends', name: 'Friends', rules: [] });
  const file = '{"vendor-5":{"input_cost_per_token":0.000001}}';
  const sent = { source: 'litellm', file, factor: '1.1', rounding: 'cent' };
  const { id, items } = (await api.admin<{ id: string; items: { id: string }[] }>('POST', '/price-proposals', sent))
    .body.data;
  return { list: 'friends', proposal: id, item: items[0]?.id ?? '' };
}

/** An operator and the owner of an account, signed in to the console. */
async function signIn(api: AdminGateway): Promise<People> {
  const { gateway, token } = api;
  const account = await api.newAccount({ unlimited: true });
  const key = await api.newKey(account.id);
  const admin = consoleClient(gateway);
  await admin.call('POST /sign-in/operator', { token });
  const invitation = { account_id: account.id, role: 'owner' };
  const { body } = await admin.call('POST /admin/people/invitations', invitation);
  const owner = consoleClient(gateway);
  const code = new URL(body.link).hash.replace('#invitation=', '');
  const person = { name: 'Owner', email: 'owner@example.com', password: 'correct horse battery' };
  await owner.call('POST /sign-in/invitation', { code, ...person });
  if (admin.cookie === '' || owner.cookie === '') throw new Error('the sign-in failed');
  return {
    headers: {
      operator: { authorization: `Bearer ${token}`, 'x-admin-actor': 'finance@example.com' },
      admin: { ...OWN_PAGE, cookie: admin.cookie },
      owner: { ...OWN_PAGE, cookie: owner.cookie },
      visitor: OWN_PAGE,
    },
    ids: { account: account.id, key: key.id },
  };
}
