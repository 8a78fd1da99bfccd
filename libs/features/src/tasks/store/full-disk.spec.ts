import { Readable } from 'node:stream';
import { eventually, pngSample } from '#testing';
import { MAX_FAILURES } from '../task-row.js';
import { FakeVendor } from '../run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

/** As on a disk without room for another entry: what fits into the space that is left is still written. */
const TAKES_NO_CAPTURE = `
create function full_disk() returns trigger language plpgsql as $$
begin
  raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
end $$;
create trigger full_disk before insert on ledger_entry for each row when (new.kind = 'capture')
  execute function full_disk();`;

describe('A task whose end the database has no room for', () => {
  const vendor = new FakeVendor();
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(vendor);
  });
  afterAll(() => bench.close());

  const advance = async (taskId: string): Promise<void> =>
    bench.advance.advance(await bench.claim(taskId), new AbortController().signal);

  it('is not given up, however often it is tried meanwhile, and is completed and charged once there is room', async () => {
    vendor.open = async () => Readable.from([pngSample({ width: 8, height: 8 })]);
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), new AbortController().signal);
    await bench.schedule.finish(taskId, [{ role: 'output', contentType: 'image/png', url: 'sandbox' }]);
    await bench.database.query({ text: TAKES_NO_CAPTURE });
    for (let attempt = 0; attempt <= MAX_FAILURES; attempt += 1) await advance(taskId);
    expect(await bench.row(taskId)).toMatchObject({ state: 'storing', failures: 0 });
    await bench.database.query({ text: 'drop function full_disk cascade' });
    await eventually(async () => {
      await advance(taskId);
      return (await bench.row(taskId)).state === 'completed';
    });
    expect(await bench.entries(taskId)).toEqual(['hold', 'capture']);
  });

  it('and one that a full disk of its worker stopped, is not given up, however often it is tried', async () => {
    vendor.start = () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    const taskId = await bench.submit();
    for (let attempt = 0; attempt <= MAX_FAILURES; attempt += 1) await advance(taskId);
    expect(await bench.row(taskId)).toMatchObject({ state: 'submitting', failures: 0 });
  });
});
