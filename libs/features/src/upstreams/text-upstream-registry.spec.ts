import { GatewayError, type TextReply } from '#contracts';
import { type Database, SecretSealer } from '#platform';
import { type OpenTextUpstream, type OpenTextUpstreams, openTools, ToolsConfig, type UpstreamEntry } from '#providers';
import { createTestDatabase, eventually, quickestOf, type TestDatabase } from '#testing';
import { sealUpstreamKey } from './upstream-kind.js';
import { TextUpstreams } from './text-upstreams.js';
import { TextUpstreamRegistry } from './upstream-registry.js';

const sealer = new SecretSealer({ keyPepper: 'a-pepper-for-tests-only' });

/** Opens upstreams that only note what is done to them. */
class NotingProviders implements OpenTextUpstreams {
  readonly retryBudgetMs = 0;
  readonly conversationMinutes = 0;
  readonly leaving = {
    readMs: 0,
    readBytes: 0,
    requests: 0,
    requestsPerAccount: 0,
    bodyBytes: 0,
    bodyBytesPerAccount: 0,
    stallMs: 1_000,
  };
  readonly tools = openTools(new ToolsConfig());
  readonly opened: UpstreamEntry[] = [];
  readonly retired: string[] = [];
  readonly closed: string[] = [];
  readonly sandbox = { ...this.place('sandbox'), models: undefined };

  constructor(readonly fromFile: readonly UpstreamEntry[] | undefined) {}

  open(entry: UpstreamEntry): OpenTextUpstream {
    this.opened.push(entry);
    return {
      ...this.place(entry.id),
      models: new Map(Object.entries(entry.models)),
      retire: () => Promise.resolve(void this.retired.push(entry.id)),
      close: () => Promise.resolve(void this.closed.push(entry.id)),
    };
  }

  private place(id: string) {
    const call = (): Promise<TextReply> => Promise.reject(new GatewayError('upstream_error', 'not asked here'));
    return { provider: { id, protocol: 'chat' as const, call }, weight: 1, priority: 0 };
  }
}

const fileEntry = (id: string): UpstreamEntry => ({
  id,
  protocol: 'chat',
  base_url: 'http://127.0.0.1:1/v1',
  models: { 'vendor-5': 'theirs' },
  weight: 1,
  priority: 0,
  timeouts: { connect_seconds: 5, first_byte_seconds: 5, idle_seconds: 5 },
  output_limit_field: 'max_tokens',
  allow: { tools: [], service_tiers: [], account_ids: [], fields: [], betas: [] },
  fetches_urls: 'vendor',
  sticky: true,
  model_limits: {},
  model_traits: {},
  embedding_models: {},
  costs: {},
  refuse_below_cost: false,
  mends_finish_reason: false,
  translation: { reasoning: 'with_calls', system_messages: 'in_place', prompt_cache: true, cache_key: false },
});

describe('The upstreams of a process', () => {
  let test: TestDatabase;
  let database: Database;
  const registries: TextUpstreamRegistry[] = [];

  beforeAll(async () => {
    test = await createTestDatabase();
    ({ database } = test);
  });
  afterEach(async () => {
    await Promise.all(registries.splice(0).map((registry) => registry.close()));
    await database.query({ text: 'delete from upstream' });
  });
  afterAll(() => test.remove());

  async function start(fromFile?: readonly UpstreamEntry[]) {
    const providers = new NotingProviders(fromFile);
    const upstreams = new TextUpstreams();
    const registry = new TextUpstreamRegistry(database, sealer, providers, upstreams);
    registries.push(registry);
    await registry.start();
    return { providers, registry, ids: () => upstreams.all.map(({ provider }) => provider.id), upstreams };
  }

  const add = (id: string, sealedKey: Buffer | null = null, models: object = { 'vendor-5': 'theirs' }) =>
    database.query({
      text: `insert into upstream (id, protocol, base_url, models, api_key_sealed)
        values ($1, 'chat', 'http://127.0.0.1:1/v1', $2, $3)`,
      values: [id, JSON.stringify(models), sealedKey],
    });

  it('are only the sandbox while neither the file nor the database names one', async () => {
    const { registry, ids } = await start();
    expect(ids()).toEqual(['sandbox']);
    await add('real');
    await registry.refresh();
    expect(ids()).toEqual(['real']);
    await database.query({ text: 'delete from upstream' });
    await registry.refresh();
    expect(ids()).toEqual(['sandbox']);
  });

  it('never fall back to the sandbox when the last one is switched off', async () => {
    await add('real');
    const { registry, ids } = await start();
    await database.query({ text: 'update upstream set enabled = false' });
    await registry.refresh();
    expect(ids()).toEqual([]);
  });

  it('are those of the file and of the database together; the file wins where both name an id', async () => {
    await add('both');
    await add('stored', sealUpstreamKey(sealer, 'stored', 'sk-stored'));
    const { registry, ids, providers } = await start([fileEntry('both'), fileEntry('filed')]);
    expect(ids()).toEqual(['both', 'filed', 'stored']);
    expect(providers.opened.map(({ id, key }) => [id, key])).toEqual([
      ['both', undefined],
      ['filed', undefined],
      ['stored', 'sk-stored'],
    ]);
    expect([registry.problemOf('both'), registry.problemOf('stored')]).toEqual([
      'UPSTREAMS_FILE has an upstream of this id, which is used instead.',
      undefined,
    ]);
  });

  it('keep unchanged ones open, and close replaced and removed ones', async () => {
    for (const id of ['kept', 'changed', 'removed']) await add(id);
    const { registry, ids, providers, upstreams } = await start();
    const healthOf = (id: string) => upstreams.all.find(({ provider }) => provider.id === id)?.healthName;
    const before = [healthOf('kept'), healthOf('changed')];
    await database.query({ text: `update upstream set weight = 0.5 where id = 'changed'` });
    await database.query({ text: `delete from upstream where id = 'removed'` });
    await registry.refresh();
    expect(ids()).toEqual(['kept', 'changed']);
    expect(providers.opened.map(({ id }) => id).toSorted()).toEqual(['changed', 'changed', 'kept', 'removed']);
    expect(providers.retired.toSorted()).toEqual(['changed', 'removed']);
    expect(healthOf('kept')).toBe(before[0]);
    expect(healthOf('changed')).not.toBe(before[1]);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'whose key was sealed under another pepper',
      () => add('broken', sealUpstreamKey(new SecretSealer({ keyPepper: 'x' }), 'broken', 'k')),
      /KEY_PEPPER/,
    ],
    ['whose key was sealed for another', () => add('broken', sealUpstreamKey(sealer, 'other', 'k')), /set the key/],
    ['that was written by hand and breaks a rule', () => add('broken', null, {}), /^models must name at least one/],
  ])('skip one %s, log why, and keep the others', async (_case, write, problem) => {
    await add('sound');
    await write();
    const { registry, ids } = await start();
    expect(ids()).toEqual(['sound']);
    expect(registry.problemOf('broken')).toMatch(problem);
  });

  it('apply a change within two seconds', async () => {
    const { ids } = await start();
    const follow = async (attempt: number): Promise<number> => {
      const id = `late-${attempt}`;
      await add(id);
      const addedAtMs = performance.now();
      await eventually(() => ids().includes(id));
      return performance.now() - addedAtMs;
    };
    // Two seconds, and as much again for a busy machine.
    expect(await quickestOf(4_000, follow)).toBeLessThan(4_000);
  });
});
