import type { MediaUpstream } from '#contracts';
import { createTestDatabase, type TestDatabase } from '#testing';
import { ScriptedUpstream } from '../tasks/run/testing/scripted-upstream.js';
import { LeavingUpstreams, MediaUpstreams } from './media-upstreams.js';

describe('LeavingUpstreams', () => {
  let test: TestDatabase;
  const upstreams = MediaUpstreams.of();
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  const routed = (upstream: MediaUpstream, isDraining: boolean) => ({
    ...MediaUpstreams.of(upstream).all[0],
    upstream,
    isDraining,
  });

  const workAt = (...providers: readonly string[]) =>
    test.database.query({
      text: `insert into task_poll (task_id, provider, operation, next_poll_at)
        select 'task_' || provider, provider, '{}', now() from unnest($1::text[]) as provider`,
      values: [providers],
    });

  it('lists no upstream while those with work are in service, and those being removed have none', async () => {
    upstreams.exchange([
      routed(new ScriptedUpstream('ark'), false),
      routed(new ScriptedUpstream('idle'), true),
    ] as Parameters<typeof upstreams.exchange>[0]);
    await workAt('ark');
    expect(await new LeavingUpstreams(test.database, upstreams).reason()).toBeNull();
  });

  it('lists those that drain, and those no process can ask any more', async () => {
    upstreams.exchange([
      routed(new ScriptedUpstream('ark'), false),
      routed(new ScriptedUpstream('kling'), true),
    ] as Parameters<typeof upstreams.exchange>[0]);
    await workAt('kling', 'gone');
    expect(await new LeavingUpstreams(test.database, upstreams).reason()).toBe(
      'work waits for what is not configured any more: gone; switched off or removed, and still at work: kling',
    );
  });
});
