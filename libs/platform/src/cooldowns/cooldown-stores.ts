import type { Cluster, Redis, Result } from 'ioredis';
import {
  type CooldownStore,
  type EndedCooldown,
  FORGET_AFTER_MS,
  PROBE_LEASE_MS,
  type ProbeClaim,
  type StoredCooldown,
} from '../circuits/cooldown-store.js';
import { Cooldowns } from '../circuits/cooldowns.js';
import { type Clock, systemClock } from '../clock/clock.js';
import type { Database } from '../database/database.js';
import { parseRedisAddress, type QueueConfig } from '../redis/redis-address.js';
import { connect, FAIL_FAST } from '../redis/redis-connection.js';

/** Those of processes that are the only ones of their database: what one part of such a process finds out, all of its parts know. */
const ofOnlyProcess = new WeakMap<Database, Cooldowns>();

/** Cooldowns shared through Redis when there is one; kept here when this process is the only one; else shared through Postgres. */
export function createCooldowns(
  config: QueueConfig,
  database: Database,
  isOnlyProcess: boolean,
  { clock = systemClock, claimTimeoutMs }: { readonly clock?: Clock; readonly claimTimeoutMs?: number } = {},
): Cooldowns {
  const shared = (store: CooldownStore): Cooldowns => new Cooldowns(clock, store, claimTimeoutMs);
  if (config.REDIS_URL !== undefined) return shared(new RedisCooldownStore(config.REDIS_URL, config.QUEUE_PREFIX));
  if (!isOnlyProcess) return shared(new PostgresCooldownStore(database));
  const known = ofOnlyProcess.get(database) ?? new Cooldowns(clock);
  ofOnlyProcess.set(database, known);
  return known;
}

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
class PostgresCooldownStore implements CooldownStore {
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

const COMMAND_TIMEOUT_MS = 500;
/** Longer than any cooldown; an installation that is gone leaves nothing behind. */
const EXPIRES_AFTER_MS = 86_400_000;

/**
 * One hash for all: upstream to "end of its cooldown : cooldowns : end of the probe's claim : prober", times in Unix
 * milliseconds by the clock of Redis. One key, so that a Cluster keeps it on one node with one clock.
 */
const PRELUDE = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function parse(value)
  local cooling, cooldowns, probe, prober = string.match(value or '', '^(%d+):(%d+):(%d+):(.*)$')
  if not cooling then return nil end
  return { cooling = tonumber(cooling), cooldowns = tonumber(cooldowns), probe = tonumber(probe), prober = prober }
end
local function find(name) return parse(redis.call('HGET', KEYS[1], name)) end
local function keep(name, it)
  redis.call('HSET', KEYS[1], name, string.format('%.0f:%.0f:%.0f:%s', it.cooling, it.cooldowns, it.probe, it.prober))
end
`;

const SCRIPTS = {
  listCooldowns: `${PRELUDE}
    local found = {}
    local all = redis.call('HGETALL', KEYS[1])
    for i = 1, #all, 2 do
      local it = parse(all[i + 1])
      if it and it.cooling + ARGV[1] > now then
        found[#found + 1] = { all[i], it.cooling - now, it.cooldowns, it.probe - now, it.prober }
      end
    end
    return found`,
  coolDown: `${PRELUDE}
    local name, till, forget = ARGV[1], now + ARGV[2], tonumber(ARGV[3])
    local it = find(name) or { cooling = 0, cooldowns = 0 }
    if it.cooling <= now then it.cooldowns = it.cooldowns + 1 end
    keep(name, { cooling = math.max(it.cooling, till), cooldowns = it.cooldowns, probe = 0, prober = '' })
    local all = redis.call('HGETALL', KEYS[1])
    for i = 1, #all, 2 do
      local other = parse(all[i + 1])
      if not other or other.cooling + forget < now then redis.call('HDEL', KEYS[1], all[i]) end
    end
    redis.call('PEXPIRE', KEYS[1], ARGV[4])`,
  claimCooldownProbe: `${PRELUDE}
    local it = find(ARGV[1])
    if not it then return 'open' end
    if it.cooling > now or it.probe > now then return 'lost' end
    it.probe, it.prober = now + ARGV[2], ARGV[3]
    keep(ARGV[1], it)
    return 'won'`,
  releaseCooldownProbe: `${PRELUDE}
    local it = find(ARGV[1])
    if not it or it.prober ~= ARGV[2] then return end
    it.probe, it.prober = 0, ''
    keep(ARGV[1], it)`,
  clearCooldown: `${PRELUDE}
    local it = find(ARGV[1])
    if not it then return end
    local ended = it.cooldowns == tonumber(ARGV[3])
    if ARGV[2] ~= '' then ended = it.prober == ARGV[2] or (it.cooling <= now and it.probe <= now) end
    if ended then redis.call('HDEL', KEYS[1], ARGV[1]) end`,
} as const;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    listCooldowns(key: string, forgetMs: number): Result<[string, number, number, number, string][], Context>;
    coolDown(key: string, name: string, coolingMs: number, forgetMs: number, expireMs: number): Result<null, Context>;
    claimCooldownProbe(key: string, name: string, leaseMs: number, prober: string): Result<ProbeClaim, Context>;
    releaseCooldownProbe(key: string, name: string, prober: string): Result<null, Context>;
    clearCooldown(key: string, name: string, prober: string, cooldowns: number): Result<null, Context>;
  }
}

/** Cooldowns in Redis: alone, as a Cluster, or behind Sentinels. It may be absent at any time. */
export class RedisCooldownStore implements CooldownStore {
  private readonly redis: Redis | Cluster;
  private readonly key: string;

  constructor(redisUrl: string, prefix: string) {
    this.key = `${prefix}:cooldowns`;
    this.redis = connect(parseRedisAddress(redisUrl), { ...FAIL_FAST, commandTimeout: COMMAND_TIMEOUT_MS });
    for (const [name, lua] of Object.entries(SCRIPTS)) this.redis.defineCommand(name, { numberOfKeys: 1, lua });
  }

  async list(): Promise<readonly StoredCooldown[]> {
    const found = await this.redis.listCooldowns(this.key, FORGET_AFTER_MS);
    return found.map(([name, coolingMs, cooldowns, probeMs, prober]) => ({
      name,
      coolingMs,
      cooldowns,
      probeMs,
      prober: prober === '' ? null : prober,
    }));
  }

  async coolDown(name: string, coolingMs: number): Promise<void> {
    await this.redis.coolDown(this.key, name, Math.ceil(coolingMs), FORGET_AFTER_MS, EXPIRES_AFTER_MS);
  }

  claimProbe(name: string, prober: string): Promise<ProbeClaim> {
    return this.redis.claimCooldownProbe(this.key, name, PROBE_LEASE_MS, prober);
  }

  async releaseProbe(name: string, prober: string): Promise<void> {
    await this.redis.releaseCooldownProbe(this.key, name, prober);
  }

  async clear(name: string, { prober, cooldowns }: EndedCooldown): Promise<void> {
    await this.redis.clearCooldown(this.key, name, prober ?? '', cooldowns);
  }

  close(): void {
    this.redis.disconnect();
  }
}
