import { type Database, type SecretSealer } from '#platform';
import { openMediaUpstreams, SandboxConfig, TextConfig } from '#providers';
import { openTaskBench, type TaskBench } from '../tasks/run/testing/task-bench.js';
import { sealUpstreamKey } from './upstream-kind.js';
import { MediaUpstreamRegistry } from './upstream-registry.js';
import { MediaUpstreams } from './media-upstreams.js';
import { mediaKind, StoredMediaEntry } from './media-kind.js';

const KEY = 'key-of-the-peer-0123456789';

describe('The media upstreams of a process', () => {
  let bench: TaskBench;
  let database: Database;
  let sealer: SecretSealer;
  const registries: MediaUpstreamRegistry[] = [];
  beforeAll(async () => {
    bench = await openTaskBench(new MediaUpstreams());
    ({ database } = bench);
    ({ sealer } = bench.platform);
  });
  afterAll(() => bench.close());
  afterEach(async () => {
    await Promise.all(registries.splice(0).map((registry) => registry.close()));
    await database.query({ text: 'delete from upstream' });
  });

  async function registry(maySell = true): Promise<MediaUpstreamRegistry> {
    const providers = openMediaUpstreams({ text: new TextConfig(), sandbox: new SandboxConfig() });
    const opened = new MediaUpstreamRegistry(database, sealer, providers, maySell);
    registries.push(opened);
    await opened.refresh();
    await opened.start();
    return opened;
  }

  async function add(id: string, changes: Partial<StoredMediaEntry> = {}): Promise<void> {
    const entry = Object.assign(new StoredMediaEntry(), {
      id,
      protocol: 'gateway',
      base_url: 'http://127.0.0.1:9',
      models: 'all',
      ...changes,
    });
    await database.query({
      text: `insert into upstream (id, protocol, base_url, models, weight, priority, settings, enabled, api_key_sealed, kind)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'media')`,
      values: [...mediaKind().valuesOf(entry), sealUpstreamKey(sealer, id, KEY)],
    });
  }
  const servingOf = ({ upstreams }: MediaUpstreamRegistry, model = 'eta-image-2.0') =>
    upstreams.serving(model).map(({ upstream }) => upstream.id);

  it('are the sandbox while none is configured, and never again once one is, not even a disabled one', async () => {
    const { upstreams, ...rest } = await registry();
    expect(rest).toBeDefined();
    expect([upstreams.sandbox, upstreams.serving('eta-image-2.0').length]).toEqual(['makes', 1]);
    await add('off', { enabled: false });
    await registries[0]?.refresh();
    expect([upstreams.sandbox, upstreams.serving('eta-image-2.0').length]).toEqual(['inactive', 0]);
    expect(upstreams.byId('sandbox')).toBeDefined();
  });

  it('offer nothing of the sandbox where it may not sell', async () => {
    const { upstreams } = await registry(false);
    expect([upstreams.sandbox, upstreams.all.length]).toEqual(['forbidden', 0]);
  });

  it('follow the table without a restart', async () => {
    const followed = await registry();
    await add('peer', { models: { 'eta-image-2.0': 'eta-image-2.0' } as never });
    await followed.refresh();
    expect([servingOf(followed), servingOf(followed, 'theta-image')]).toEqual([['peer'], []]);
    await database.query({ text: `update upstream set weight = 0` });
    await followed.refresh();
    expect(servingOf(followed)).toEqual([]);
  });

  it('keep a removed one while a task names it, and give it no new orders', async () => {
    await add('leaving');
    const followed = await registry();
    const taskId = await bench.submit();
    const task = await bench.claim(taskId);
    await bench.transitions.recordStartIntent(task, {
      upstream: 'leaving',
      vendorAccount: 'leaving',
      ticket: { upstream: 'leaving', model: 'm' },
    });
    await bench.transitions.setRunning(task, {
      upstreamId: 'leaving',
      vendorAccount: 'leaving',
      name: undefined,
      operation: { order: 1 },
      firstCheckMs: 60_000,
      costs: {},
    });
    await database.query({ text: `update upstream set deleted_at = now() - interval '1 hour'` });
    await followed.refresh();
    await followed.refresh();
    expect([servingOf(followed), followed.upstreams.byId('leaving')?.isDraining]).toEqual([[], true]);
    await bench.settlement.failUnclaimed({ id: taskId, outputs: null }, ['running'], 'upstream_error', 'over');
    await followed.refresh();
    expect(followed.upstreams.byId('leaving')).toBeUndefined();
  });

  it('keep the last removed one while orders accepted for it wait, so that the sandbox makes none', async () => {
    await add('last');
    const followed = await registry();
    const taskId = await bench.submit();
    await bench.change(taskId, `created_at = now() - interval '3 minutes'`);
    await database.query({ text: `update upstream set deleted_at = now() - interval '2 minutes'` });
    for (let look = 0; look < 2; look += 1) await followed.refresh();
    expect([followed.upstreams.sandbox, servingOf(followed)]).toEqual(['inactive', []]);
    await bench.settlement.cancelUnstarted(taskId);
    for (let look = 0; look < 2; look += 1) await followed.refresh();
    expect(followed.upstreams.sandbox).toBe('makes');
  });

  it('keep one that was just removed, because another process may still send it an order', async () => {
    await add('leaving');
    const followed = await registry();
    await database.query({ text: `update upstream set deleted_at = now()` });
    await followed.refresh();
    await followed.refresh();
    expect([servingOf(followed), followed.upstreams.byId('leaving')?.isDraining]).toEqual([[], true]);
  });

  it('skip an unusable row, and log why', async () => {
    await add('broken');
    await database.query({ text: `update upstream set protocol = 'soap'` });
    const followed = await registry();
    expect(followed.problemOf('broken')).toContain('protocol');
    expect(followed.upstreams.sandbox).toBe('inactive');
  });
});
