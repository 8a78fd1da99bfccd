import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject, TaskView } from '#contracts';
import { Client, eventually } from './client.js';
import { ROLES } from './installation.js';
import { adminOf, IMAGE, type Step, type Story } from './story.js';

/** Keys change hands, the records are read, and the whole moves to another place. */
export function operatingSteps(step: Step, story: Story): void {
  step('rotates the key: old and new work meanwhile', async () => {
    const { key } = await story.admin.data<{ key: string }>('POST', `/admin/v1/keys/${story.keyId}/rotate`, {
      overlap_seconds: 3600,
    });
    const renewed = new Client(story.place.installation.url, key);
    for (const client of [story.customer, renewed])
      expect((await client.send('GET', '/v1/user/balance')).status).toBe(200);
    story.customer = renewed;
  });
  step('revokes a key: within seconds it opens nothing', async () => {
    const keys = `/admin/v1/accounts/${story.accountId}/keys`;
    const { id, key } = await story.admin.data<{ id: string; key: string }>('POST', keys, { name: 'lost laptop' });
    const lost = new Client(story.place.installation.url, key);
    expect((await lost.send('GET', '/v1/user/balance')).status).toBe(200);
    await story.admin.data('POST', `/admin/v1/keys/${id}/revoke`);
    await eventually('the end of the key', async () =>
      (await lost.send('GET', '/v1/user/balance')).status === 401 ? true : undefined,
    );
  });
  step('finds in the audit the actor that changed the key', async () => {
    const changes = await story.admin.data<{ action: string }[]>('GET', `/admin/v1/audit?subject_id=${story.keyId}`);
    expect(changes.map(({ action }) => action)).toEqual([
      expect.stringContaining('rotate'),
      expect.stringContaining('create'),
    ]);
  });
  step('proves that the ledger adds up', () => ledgerIsBalanced(story.admin));
  movingSteps(step, story);
}

/** What the customer and the operator see of an installation, the addresses of its files apart. */
async function seenBy(admin: Client, customer: Client): Promise<Readonly<Record<string, unknown>>> {
  const tasks = await customer.data<TaskView[]>('GET', '/v1/tasks?limit=100');
  return {
    tasks: tasks.map(({ result, ...task }) => ({ ...task, files: checksums(result) })),
    balance: (await customer.send<JsonObject>('GET', '/v1/user/balance')).body,
    usage: await customer.data('GET', '/v1/usage?group_by=model'),
    records: await customer.data('GET', '/v1/usage/records?limit=100'),
    endpoints: await customer.data('GET', '/v1/webhooks/endpoints'),
    accounts: await admin.data('GET', '/admin/v1/accounts'),
    prices: await admin.data('GET', '/admin/v1/prices'),
  };
}

const checksums = (result: TaskView['result']): string[] =>
  [...(result?.images ?? []), ...(result?.videos ?? [])].map(({ sha256 }) => sha256 ?? '');

function movingSteps(step: Step, story: Story): void {
  let folder: string;
  let before: Awaited<ReturnType<typeof seenBy>>;
  step('backs up while it goes on working', async () => {
    folder = join(story.folderInside, 'backup');
    before = await seenBy(story.admin, story.customer);
    expect(await story.place.installation.run('backup', folder)).toMatch(/^Saved \d+ rows of \d+ tables and 3 files/);
    expect(JSON.parse(await readFile(join(story.folder, 'backup/manifest.json'), 'utf8'))).toMatchObject({
      missingFiles: [],
    });
  });
  step('stops every process with SIGTERM, and none is left', () => stopsWhole(story.place.installation));
  step('restores into an empty database and an empty bucket', async () => {
    story.restored = await story.openPlace(story.receiver);
    expect(await story.restored.installation.run('restore', folder)).toMatch(
      /^Restored \d+ rows of \d+ tables and 3 files/,
    );
  });
  step('refuses to restore over what is there', async () => {
    await expect(story.restored.installation.run('restore', folder)).rejects.toThrow(/not empty/);
  });
  step('starts on the restored place', async () => {
    await Promise.all(ROLES.map((role) => story.restored.installation.start(role)));
    story.admin = adminOf(story.restored);
    story.customer = story.customer.at(story.restored.installation.url);
  });
  step('finds every task, record, price, account and balance there', async () => {
    expect(await seenBy(story.admin, story.customer)).toEqual(before);
  });
  step('opens the files there', async () => {
    const there = await story.customer.data<TaskView>('GET', `/v1/tasks/${story.image.task_id}`);
    const image = there.result?.images?.[0];
    expect((await (await fetch(image?.url ?? '')).arrayBuffer()).byteLength).toBe(image?.bytes);
  });
  step('makes an image there, and announces it with the secret of before', async () => {
    const taskId = await story.customer.submit('/v1/images/generations', IMAGE);
    expect((await story.customer.finished(taskId)).status).toBe('completed');
    await story.receiver.verified(story.webhookSecret, ({ data }) => data.task_id === taskId);
  });
  step('proves there that the ledger adds up, from the first entry on', () => ledgerIsBalanced(story.admin));
  step('stops that place too', () => stopsWhole(story.restored.installation));
}

async function ledgerIsBalanced(admin: Client): Promise<void> {
  const { body } = await admin.send('POST', '/admin/v1/reconciliations?full=true');
  expect(body.data).toMatchObject({ balanced: true, findings: [] });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function stopsWhole(installation: Story['place']['installation']): Promise<void> {
  const { pids } = installation;
  expect(await installation.stop()).toEqual(ROLES.map((role) => [role, 0]));
  expect(pids.filter(isAlive)).toEqual([]);
}
