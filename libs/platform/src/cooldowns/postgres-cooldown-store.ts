import type { Database } from '../database/database.js';
import {
  type CooldownStore,
  type EndedCooldown,
  FORGET_AFTER_MS,
  PROBE_LEASE_MS,
  type ProbeClaim,
  type StoredCooldown,
} from './cooldown-store.js';

const LIST = `
select upstream as name, rests, extract(epoch from rest_until - now())::float8 * 1000 as "coolingMs",
  case when probe_until > now() then extract(epoch from probe_until - now())::float8 * 1000 else 0 end as "probeMs",
  prober
from upstream_cooldown where rest_until > now() - $1::float8 * interval '1 millisecond'`;

const REST = `
with forgotten as (
  delete from upstream_cooldown where upstream <> $1 and rest_until < now() - $3::float8 * interval '1 millisecond'
)
insert into upstream_cooldown as known (upstream, rest_until, rests)
values ($1, now() + $2::float8 * interval '1 millisecond', 1)
on conflict (upstream) do update set
  rest_until = greatest(known.rest_until, excluded.rest_until),
  rests = known.rests + (known.rest_until <= now())::integer,
  probe_until = '-infinity', prober = null`;

const CLAIM = `
with claimed as (
  update upstream_cooldown set probe_until = now() + $3::float8 * interval '1 millisecond', prober = $2
  where upstream = $1 and rest_until <= now() and probe_until <= now() returning upstream
)
select case
  when exists (select from claimed) then 'won'
  when exists (select from upstream_cooldown where upstream = $1) then 'lost'
  else 'open' end as claim`;

const RELEASE = `
update upstream_cooldown set probe_until = '-infinity', prober = null where upstream = $1 and prober = $2`;

const CLEAR = `
delete from upstream_cooldown where upstream = $1
  and case when $2::text is null then rests = $3 else prober = $2 or (rest_until <= now() and probe_until <= now()) end`;

/** Rests in Postgres, by its clock. */
export class PostgresCooldownStore implements CooldownStore {
  constructor(private readonly database: Database) {}

  async list(): Promise<readonly StoredCooldown[]> {
    const statement = { name: 'list_cooldowns', text: LIST, values: [FORGET_AFTER_MS] };
    return (await this.database.query<StoredCooldown>(statement)).rows;
  }

  async coolDown(name: string, coolingMs: number): Promise<void> {
    await this.database.query({ text: REST, values: [name, coolingMs, FORGET_AFTER_MS] });
  }

  async claimProbe(name: string, prober: string): Promise<ProbeClaim> {
    const values = [name, prober, PROBE_LEASE_MS];
    const { rows } = await this.database.query<{ claim: ProbeClaim }>({ text: CLAIM, values });
    return rows[0]?.claim ?? 'open';
  }

  async releaseProbe(name: string, prober: string): Promise<void> {
    await this.database.query({ text: RELEASE, values: [name, prober] });
  }

  async clear(name: string, { prober, rests }: EndedCooldown): Promise<void> {
    await this.database.query({ text: CLEAR, values: [name, prober, rests] });
  }

  close(): void {
    // The pool is the platform's.
  }
}
