import type { Database } from '../database/database.js';
import {
  type CooldownStore,
  type EndedCooldown,
  FORGET_AFTER_MS,
  PROBE_LEASE_MS,
  type ProbeClaim,
  type StoredCooldown,
} from '../circuits/cooldown-store.js';

const LIST = `
select upstream as name, cooldowns, extract(epoch from cooling_until - now())::float8 * 1000 as "coolingMs",
  case when probe_until > now() then extract(epoch from probe_until - now())::float8 * 1000 else 0 end as "probeMs",
  prober
from upstream_cooldown where cooling_until > now() - $1::float8 * interval '1 millisecond'`;

const COOL_DOWN = `
with forgotten as (
  delete from upstream_cooldown where upstream <> $1 and cooling_until < now() - $3::float8 * interval '1 millisecond'
)
insert into upstream_cooldown as known (upstream, cooling_until, cooldowns)
values ($1, now() + $2::float8 * interval '1 millisecond', 1)
on conflict (upstream) do update set
  cooling_until = greatest(known.cooling_until, excluded.cooling_until),
  cooldowns = known.cooldowns + (known.cooling_until <= now())::integer,
  probe_until = '-infinity', prober = null`;

const CLAIM = `
with claimed as (
  update upstream_cooldown set probe_until = now() + $3::float8 * interval '1 millisecond', prober = $2
  where upstream = $1 and cooling_until <= now() and probe_until <= now() returning upstream
)
select case
  when exists (select from claimed) then 'won'
  when exists (select from upstream_cooldown where upstream = $1) then 'lost'
  else 'open' end as claim`;

const RELEASE = `
update upstream_cooldown set probe_until = '-infinity', prober = null where upstream = $1 and prober = $2`;

const CLEAR = `
delete from upstream_cooldown where upstream = $1
  and case when $2::text is null then cooldowns = $3 else prober = $2 or (cooling_until <= now() and probe_until <= now()) end`;

/** Cooldowns in Postgres, by its clock. */
export class PostgresCooldownStore implements CooldownStore {
  constructor(private readonly database: Database) {}

  async list(): Promise<readonly StoredCooldown[]> {
    const statement = { name: 'list_cooldowns', text: LIST, values: [FORGET_AFTER_MS] };
    return (await this.database.query<StoredCooldown>(statement)).rows;
  }

  async coolDown(name: string, coolingMs: number): Promise<void> {
    await this.database.query({ text: COOL_DOWN, values: [name, coolingMs, FORGET_AFTER_MS] });
  }

  async claimProbe(name: string, prober: string): Promise<ProbeClaim> {
    const values = [name, prober, PROBE_LEASE_MS];
    const { rows } = await this.database.query<{ claim: ProbeClaim }>({ text: CLAIM, values });
    return rows[0]?.claim ?? 'open';
  }

  async releaseProbe(name: string, prober: string): Promise<void> {
    await this.database.query({ text: RELEASE, values: [name, prober] });
  }

  async clear(name: string, { prober, cooldowns }: EndedCooldown): Promise<void> {
    await this.database.query({ text: CLEAR, values: [name, prober, cooldowns] });
  }

  close(): void {
    // The pool is the platform's.
  }
}
