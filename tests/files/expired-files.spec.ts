import type { TaskView } from '#contracts';
import { MaintenanceService } from '#features';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

describe('Files that expire', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.stop());

  it('are removed after their lifetime, and the task says so instead of showing a dead link', async () => {
    const taskId = await gateway.submit('/v1/images/generations', {
      model: 'iota-1.0-reseller',
      prompt: 'a lighthouse',
    });
    const made = (await gateway.waitForTask(taskId)).result?.images?.[0];
    expect(made).toMatchObject({ url: expect.any(String), expires_at: expect.any(Number) });
    await gateway.database.query({ text: 'update task_file set expires_at = now()', values: [] });

    await new MaintenanceService(gateway.database, gateway.platform.store, gateway.platform.config.retention).run();

    const { body } = await gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}`);
    expect(body.data).toMatchObject({ status: 'completed', usage: { final: true } });
    expect(body.data.result?.images?.[0]).toMatchObject({ url: null, expired: true, sha256: made?.sha256 });
    const { rows } = await gateway.database.query<{ store_key: string; removed: boolean }>({
      text: 'select store_key, removed_at is not null as removed from task_file where task_id = $1',
      values: [taskId],
    });
    expect(rows).toEqual([expect.objectContaining({ removed: true })]);
    await expect(gateway.platform.store.open(rows[0]?.store_key ?? '')).rejects.toMatchObject({ code: 'not_found' });
  });
});
