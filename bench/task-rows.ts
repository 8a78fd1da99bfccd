import { type Database, timeOrderedId } from '#platform';

const ADD_TASKS = `
insert into task (id, account_id, api_key_id, medium, path, family, model, mode, parameters, state, hold_micros,
  billing_unit, billing_variant, billing_settle, quantity, request_id, deadline_at, lease_until, provider, operation)
select id, $1, 'key_' || $1, 'image', '/v1/images/generations', 'eta', 'eta-image-2.0', 'text-to-image',
  '{"model":"eta-image-2.0","prompt":"x","size":"1:1","resolution":"1K","n":1}', $3, 0,
  'image', '1K', 'per-output', 1, 'req_bench', now() + interval '1 hour',
  case when $3 = 'queued' then now() end, 'sandbox', jsonb_build_object('task_id', id)
from unnest($2::text[]) as id`;

/** An account with a key, for tasks that cost nothing. */
export async function addAccount(database: Database, accountId: string): Promise<void> {
  await database.query({
    text: `insert into account (id, name) values ($1, 'bench') on conflict do nothing`,
    values: [accountId],
  });
  await database.query({
    text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key_' || $1, $1, 'bench', 'sk', sha256($1::bytea))
      on conflict do nothing`,
    values: [accountId],
  });
}

/** Writes task rows as submissions would have left them, or as vendors at work would; answers their ids. */
export async function addTasks(
  database: Database,
  accountId: string,
  count: number,
  state: 'queued' | 'running',
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => timeOrderedId('task'));
  for (let start = 0; start < count; start += 10_000) {
    await database.query({ text: ADD_TASKS, values: [accountId, ids.slice(start, start + 10_000), state] });
  }
  return ids;
}

const FINISH_TASKS = `
with finished as (
  update task set state = 'completed', charged_micros = 0, progress = 100, lease_until = null, started_at = now(), finished_at = now()
  where id = any($1) returning id
)
insert into task_file (task_id, ordinal, role, store_key, content_type, bytes, sha256, width, height, expires_at)
select id, 0, 'output', 'images/' || id || '/0.png', 'image/png', 200000, repeat('0a', 32), 1024, 1024, now() + interval '1 day'
from finished`;

/** Ends tasks as if each had made an image. */
export async function finishTasks(database: Database, ids: readonly string[]): Promise<void> {
  await database.query({ text: FINISH_TASKS, values: [ids] });
}
