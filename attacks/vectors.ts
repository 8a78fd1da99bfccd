import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import type { Attack, Outcome, Scene } from './attack.js';
import { send } from './client.js';
import type { MediaReply, MediaRequest } from './hostile-vendor.js';
import { EMBEDDING_MODEL, type Tenant } from './target.js';

/** How long the vendor takes for each call. */
const CALL_MS = 500;
/** So many files of so many words wait when another account adds a small one. */
const FILES = 16;
const WORDS = 12_000;
/** Into so small parts that each file takes several calls. */
const CHUNKS = { type: 'static', static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 50 } };
const SMALL = 'The lighthouse of Vesterholm was lit for the first time in 1871.';

const READ_WITHIN_MS = 120_000;
/** Longer than any of this takes; a row that waits for ever would say nothing. */
const EMBEDDED_WITHIN_MS = 60_000;

/** A vendor of embeddings that takes its time. */
async function vectors({ path, body }: MediaRequest): Promise<MediaReply> {
  if (!path.endsWith('/embeddings')) return { status: 404, contentType: 'application/json', body: '{}' };
  await sleep(CALL_MS);
  const { input } = JSON.parse(body) as { readonly input: readonly string[] };
  const data = input.map((_, index) => ({ object: 'embedding', index, embedding: [0.5, -0.25, 1] }));
  const reply = { object: 'list', data, model: 'vectors', usage: { prompt_tokens: 4, total_tokens: 4 } };
  return { status: 200, contentType: 'application/json', body: JSON.stringify(reply) };
}

const INDEXES = `select count(*)::integer as count from file_index where account_id = $1`;
const UNREAD = `${INDEXES} and state <> 'completed'`;
const WITHOUT_VECTORS = `${INDEXES} and state = 'completed' and embedding_model is null`;

/** Adds files to a store of their own, and waits until their words are found. */
async function addFiles({ target }: Scene, { key, accountId }: Tenant, texts: readonly string[]): Promise<void> {
  const asked = async <Data>(path: string, body: FormData | JsonObject): Promise<Data> => {
    const { status, text } = await send(target.url, key, { method: 'POST', path, body });
    if (status !== 200) throw new Error(`${path} was answered with ${status}: ${text}`);
    return JSON.parse(text) as Data;
  };
  const { id: store } = await asked<{ id: string }>('/v1/vector_stores', {});
  for (const text of texts) {
    const form = new FormData();
    // Cut for the store alone: others are cut a second time, for searches that name none.
    form.append('purpose', 'evals');
    form.append('file', new Blob([text]), 'a.txt');
    const { id } = await asked<{ id: string }>('/v1/files', form);
    await asked(`/v1/vector_stores/${store}/files`, { file_id: id, chunking_strategy: CHUNKS });
  }
  const areRead = async (): Promise<boolean> =>
    (await target.rows<{ count: number }>(UNREAD, accountId))[0]?.count === 0;
  await eventually(areRead, { limitMs: READ_WITHIN_MS, pauseMs: 50 });
}

const waiting = async ({ target }: Scene, { accountId }: Tenant): Promise<number> =>
  (await target.rows<{ count: number }>(WITHOUT_VECTORS, accountId))[0]?.count ?? 0;

/** How long a small file that is read waits for its vectors, in milliseconds. */
async function smallFileMs(scene: Scene, tenant: Tenant): Promise<number> {
  await addFiles(scene, tenant, [SMALL]);
  const began = performance.now();
  await eventually(async () => (await waiting(scene, tenant)) === 0, { limitMs: EMBEDDED_WITHIN_MS, pauseMs: 20 });
  return performance.now() - began;
}

const longText = (seed: number): string =>
  Array.from({ length: WORDS }, (_, nth) => `word${(nth * 7_919 + seed) % 50_021}`).join(' ');

/** Vectors of one account's files are made beside those of others, whoever came first. */
export const FIRST_IN_FIRST_OUT: Attack = {
  name: 'vectors of large files before those of a small one',
  run: async (scene): Promise<Outcome> => {
    const { target, vendor, tenant, victim } = scene;
    vendor.media = vectors;
    await target.endApi('SIGTERM');
    await target.startApi({ FILE_EMBEDDING_MODEL: EMBEDDING_MODEL, FILE_EMBEDDINGS_FREE: 'true' });
    try {
      const quietMs = await smallFileMs(scene, victim.tenant);
      const attacker = await tenant('1');
      await addFiles(
        scene,
        attacker,
        Array.from({ length: FILES }, (_, nth) => longText(nth)),
      );
      const busyMs = await smallFileMs(scene, victim.tenant);
      const breaches: string[] = [];
      if ((await waiting(scene, attacker)) === 0)
        breaches.push('no file of the attacker waits, so that this proves nothing');
      // A call of the other account is under way when it comes, and one comes between: each account has its turn.
      const allowedMs = quietMs + 3 * CALL_MS;
      if (busyMs > allowedMs)
        breaches.push(`a small file waited ${busyMs.toFixed(0)} ms for its vectors, alone ${quietMs.toFixed(0)} ms`);
      return { breaches };
    } finally {
      await target.endApi('SIGTERM');
      await target.startApi();
    }
  },
};
