import { readFileSync } from 'node:fs';
import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { startAdminGateway, type AdminGateway } from '../harness/admin-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

interface Operation {
  readonly method: string;
  /** With the names of its parameters in braces. */
  readonly path: string;
}

/** Every operation of the public API that names something of an account in its path. */
const OPERATIONS = Object.entries(
  (JSON.parse(readFileSync('openapi.json', 'utf8')) as { paths: Readonly<Record<string, object>> }).paths,
)
  .filter(([path]) => path.includes('{') && !/^\/admin|\{(?:model|target|key)\}/.test(path))
  .flatMap(([path, methods]) =>
    Object.keys(methods).map((method): Operation => ({ method: method.toUpperCase(), path })),
  );

/** What such an operation must be sent to get as far as what it names. */
const BODIES: Readonly<Record<string, JsonObject>> = {
  'POST /v1/vector_stores/{vector_store_id}': { name: 'mine now' },
  'POST /v1/vector_stores/{vector_store_id}/search': { query: 'lighthouse' },
  'POST /v1/vector_stores/{vector_store_id}/files': { file_id: 'FILE' },
  'POST /v1/vector_stores/{vector_store_id}/files/{file_id}': { attributes: { a: 'b' } },
  'POST /v1/vector_stores/{vector_store_id}/file_batches': { file_ids: ['FILE'] },
};

describe('The data of an account', () => {
  let api: AdminGateway;
  let owner: string;
  let stranger: string;
  beforeAll(async () => {
    api = await startAdminGateway();
    const newKey = async () => (await api.newKey((await api.newAccount({ unlimited: true })).id)).key;
    [owner, stranger] = [await newKey(), await newKey()];
  });
  afterAll(() => api.gateway.stop());

  const send = <Body>(key: string, method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    api.gateway.send<Body>(method, path, body, { authorization: `Bearer ${key}`, ...more });
  const submit = async (key: string, more: Record<string, string> = {}): Promise<string> =>
    (await send<{ data: [{ task_id: string }] }>(key, 'POST', '/v1/images/generations', IMAGE, more)).body.data[0]
      .task_id;

  interface Named {
    readonly [parameter: string]: string;
  }

  /** One of everything that a path of the public API names. */
  async function oneOfEach(key: string): Promise<Named> {
    const made = async <Body>(path: string, body: object): Promise<Body> => {
      const answer = await send<Body>(key, 'POST', path, body);
      expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
      return answer.body;
    };
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob(['The lighthouse of Vesterholm.']), 'a.txt');
    const headers = { authorization: `Bearer ${key}` };
    const uploaded = await fetch(`${api.gateway.baseUrl}/v1/files`, { method: 'POST', headers, body: form });
    const { id: file } = (await uploaded.json()) as { id: string };
    const { id: store } = await made<{ id: string }>('/v1/vector_stores', { file_ids: [file] });
    const batch = await made<{ id: string }>(`/v1/vector_stores/${store}/file_batches`, { file_ids: [file] });
    // What lists show of a file changes when it has been read.
    await eventually(async () => {
      const { body } = await send<{ status: string }>(key, 'GET', `/v1/vector_stores/${store}/files/${file}`);
      return body.status === 'completed';
    });
    const response = await made<{ id: string; output: [{ id: string }] }>('/v1/responses', {
      model: 'vendor-5',
      input: 'Remember this',
    });
    const records = await eventually(async () => {
      const { body } = await send<{ data: [{ request_id: string }] }>(key, 'GET', '/v1/usage/records');
      return body.data.length > 0 && body.data;
    });
    const { data: endpoint } = await made<{ data: { id: string } }>('/v1/webhooks/endpoints', {
      url: 'https://example.com/hook',
    });
    const test = await made<{ data: { delivery_id: string } }>(`/v1/webhooks/endpoints/${endpoint.id}/test`, {});
    return {
      id: response.id,
      item_id: response.output[0].id,
      request_id: records[0].request_id,
      task_id: await submit(key),
      file_id: file,
      vector_store_id: store,
      batch_id: batch.id,
      endpoint_id: endpoint.id,
      delivery_id: test.data.delivery_id,
    };
  }

  /** As it looks, of the same sort, and nobody's. */
  const unknown = (named: Named): Named =>
    Object.fromEntries(
      Object.entries(named).map(([name, id]) => [
        name,
        id.replace(/[0-9a-z]{12}$/i, (end) => end.replaceAll(/./g, '0')),
      ]),
    );

  it('is for another account what never existed, on every route and by every method', async () => {
    const theirs = await oneOfEach(owner);
    const mine = await oneOfEach(stranger);
    const answered = async ({ method, path }: Operation, named: Named): Promise<string> => {
      const where = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => named[name] ?? `no ${name} is made here`);
      const sent = JSON.stringify(BODIES[`${method} ${path}`] ?? {}).replaceAll('FILE', named['file_id']!);
      const { status, body } = await send(stranger, method, where, method === 'POST' ? JSON.parse(sent) : undefined);
      const text = Object.entries(named).reduce((all, [name, id]) => all.replaceAll(id, name), JSON.stringify(body));
      return `${status} ${text.replaceAll(/req_\w+/g, '')}`;
    };
    const leaks: object[] = [];
    for (const operation of OPERATIONS) {
      const nothing = unknown(theirs);
      // Of two things that a path names, each may be the one that is another's.
      const parameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      const cases = parameters.length === 1 ? [[]] : [[], ...parameters.map((name) => [name])];
      for (const own of cases) {
        const ofMine = Object.fromEntries(own.map((name) => [name, mine[name]!]));
        const [real, none] = [
          await answered(operation, { ...theirs, ...ofMine }),
          await answered(operation, { ...nothing, ...ofMine }),
        ];
        if (real !== none || !real.startsWith('404 ')) leaks.push({ ...operation, own, real, none });
      }
    }
    expect(leaks).toEqual([]);
  });

  it('is nothing that a list, a cursor or a body of another account can name', async () => {
    const [theirs, mine] = [await oneOfEach(owner), await oneOfEach(stranger)];
    const nothing = unknown(theirs);
    const ask = (named: Named): readonly (readonly [method: string, path: string, body?: object])[] => [
      ...['after', 'before'].flatMap((side) => [
        ['GET', `/v1/files?${side}=${named['file_id']}`] as const,
        ['GET', `/v1/vector_stores?${side}=${named['vector_store_id']}`] as const,
        ['GET', `/v1/vector_stores/${mine['vector_store_id']}/files?${side}=${named['file_id']}`] as const,
      ]),
      ['GET', `/v1/responses/${mine['id']}/input_items?after=${named['id']}`],
      ['GET', `/v1/tasks/${named['task_id']}?wait=1`],
      ['GET', `/v1/webhooks/deliveries?task_id=${named['task_id']}`],
      ['GET', `/v1/ledger?task_id=${named['task_id']}`],
      ['GET', `/v1/ledger?request_id=${named['request_id']}`],
      ['GET', `/v1/usage/records?request_id=${named['request_id']}`],
      ['POST', '/v1/tasks/batch', { task_ids: [named['task_id']] }],
      ['POST', '/v1/vector_stores', { file_ids: [named['file_id']] }],
      ['POST', `/v1/vector_stores/${mine['vector_store_id']}/files`, { file_id: named['file_id'] }],
      ['POST', `/v1/vector_stores/${mine['vector_store_id']}/file_batches`, { file_ids: [named['file_id']] }],
      ['POST', '/v1/responses', { model: 'vendor-5', input: 'x', previous_response_id: named['id'] }],
      ['POST', '/v1/responses', { model: 'vendor-5', input: [{ type: 'item_reference', id: named['item_id'] }] }],
      [
        'POST',
        '/v1/responses',
        {
          model: 'vendor-5',
          input: 'x',
          tools: [{ type: 'file_search', vector_store_ids: [named['vector_store_id']] }],
        },
      ],
      [
        'POST',
        '/v1/responses',
        {
          model: 'vendor-5',
          input: [{ role: 'user', content: [{ type: 'input_file', file_id: named['file_id'] }] }],
        },
      ],
    ];
    const answered = async (
      [method, path, body]: readonly [string, string, object?],
      named: Named,
    ): Promise<string> => {
      const answer = await send(stranger, method, path, body);
      const text = Object.entries(named).reduce(
        (all, [name, id]) => all.replaceAll(id, name),
        JSON.stringify(answer.body),
      );
      return `${answer.status} ${text.replaceAll(/(?:req|vs|vsfb)_\w+|"created_at":\d+/g, '')}`;
    };
    const leaks: object[] = [];
    for (const [index, asked] of ask(theirs).entries()) {
      const [real, none] = [await answered(asked, theirs), await answered(ask(nothing)[index]!, nothing)];
      if (real !== none) leaks.push({ asked, real, none });
    }
    expect(leaks).toEqual([]);
  });

  it('is not shared through an Idempotency-Key that both use', async () => {
    const headers = { 'idempotency-key': 'one-of-both' };
    const [theirs, mine] = [await submit(owner, headers), await submit(stranger, headers)];
    expect(mine).not.toBe(theirs);
    expect([await submit(owner, headers), await submit(stranger, headers)]).toEqual([theirs, mine]);
  });

  it('is neither read, deleted nor continued when it is a stored response', async () => {
    const order = { model: 'vendor-5', input: 'Remember this', store: true };
    const { body } = await send<{ id: string }>(owner, 'POST', '/v1/responses', order);
    const path = `/v1/responses/${body.id}`;
    expect((await send(owner, 'GET', path)).status).toBe(200);
    const calls = [
      ['GET', path],
      ['GET', `${path}?stream=true`],
      ['GET', `${path}/input_items`],
      ['POST', `${path}/cancel`],
      ['DELETE', path],
    ] as const;
    for (const [method, where] of calls)
      expect([method, where, (await send(stranger, method, where)).status]).toEqual([method, where, 404]);
    const goOn = { model: 'vendor-5', input: 'What was it?', previous_response_id: body.id };
    expect((await send(stranger, 'POST', '/v1/responses', goOn)).status).toBe(400);
    expect((await send(stranger, 'POST', '/v1/responses/compact', goOn)).status).toBe(400);
    expect((await send(owner, 'POST', '/v1/responses', goOn)).status).toBe(200);
  });

  it('is not in the tasks, the usage, the records or the webhook settings of another', async () => {
    const { body: secrets } = await send<{ data: { secret: string } }>(owner, 'GET', '/v1/webhooks/signing-secret');
    for (const path of [
      '/v1/tasks',
      '/v1/usage',
      '/v1/usage/records',
      '/v1/webhooks/endpoints',
      '/v1/webhooks/deliveries',
    ]) {
      const fresh = (await api.newKey((await api.newAccount({ unlimited: true })).id)).key;
      expect([path, (await send<{ data: object[] }>(fresh, 'GET', path)).body.data]).toEqual([path, []]);
    }
    const { body: others } = await send<{ data: { secret: string } }>(stranger, 'GET', '/v1/webhooks/signing-secret');
    expect(others).not.toEqual(secrets);
  });
});
