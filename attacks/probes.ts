import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#testing';
import type { Scene } from './attack.js';
import { type Request, send, textRequest } from './client.js';
import type { Tenant } from './target.js';
import type { Paced } from './victim.js';

/** What an innocent account does. */
export const PROBE_NAMES = ['text', 'image', 'list', 'file'] as const;
export type ProbeName = (typeof PROBE_NAMES)[number];

/**
 * All of them, each slow enough to stay within the free requests of a minute.
 *
 * @param repeats how often a request is sent again that was put off with 503, as client libraries do.
 */
export async function probesOf(scene: Scene, repeats: number): Promise<Record<ProbeName, Paced>> {
  async function served<Data>({ target }: Scene, { key }: Tenant, request: Request): Promise<Data> {
    for (let left = repeats; ; left -= 1) {
      const { status, text, headers } = await send(target.url, key, request);
      if (status === 200) return JSON.parse(text) as Data;
      if (status !== 503 || left === 0)
        throw new Error(`${request.method} ${request.path} was answered with ${status}: ${text}`);
      await sleep(1000 * Number(headers.get('retry-after') ?? 1));
    }
  }
  const { tenant: victim } = scene.victim;
  const { id: store } = await served<{ id: string }>(scene, victim, {
    method: 'POST',
    path: '/v1/vector_stores',
    body: {},
  });
  const text = async (tenant: Tenant): Promise<void> => {
    await served(scene, tenant, textRequest('responses', 'responses', false));
  };
  const image = async (tenant: Tenant): Promise<void> => {
    const body = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
    const { data } = await served<{ data: readonly [{ task_id: string }] }>(scene, tenant, {
      method: 'POST',
      path: '/v1/images/generations',
      body,
    });
    const path = `/v1/tasks/${data[0].task_id}?wait=30`;
    await eventually(
      async () => {
        const { data: task } = await served<{ data: { status: string } }>(scene, tenant, { method: 'GET', path });
        if (task.status === 'failed') throw new Error('the image failed');
        return task.status === 'completed';
      },
      { pauseMs: 100 },
    );
  };
  const list = async (tenant: Tenant): Promise<void> => {
    await served(scene, tenant, { method: 'GET', path: '/v1/tasks?limit=20' });
    await served(scene, tenant, { method: 'GET', path: '/v1/user/balance' });
  };
  const file = async (tenant: Tenant): Promise<void> => {
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob(['The lighthouse of Vesterholm was lit for the first time in 1871.']), 'a.txt');
    const { id } = await served<{ id: string }>(scene, tenant, { method: 'POST', path: '/v1/files', body: form });
    const path = `/v1/vector_stores/${store}/files`;
    await served(scene, tenant, { method: 'POST', path, body: { file_id: id } });
    await eventually(
      async () =>
        (await served<{ status: string }>(scene, tenant, { method: 'GET', path: `${path}/${id}` })).status ===
        'completed',
      { pauseMs: 100 },
    );
    await served(scene, tenant, { method: 'DELETE', path: `/v1/files/${id}` });
  };
  return {
    text: { probe: text, pauseMs: 50 },
    image: { probe: image, pauseMs: 300 },
    list: { probe: list, pauseMs: 300 },
    // One file of each account is read after the other, and may take five seconds before it is set aside.
    file: { probe: file, pauseMs: 500, turnMs: 5_500 },
  };
}
