import { Database, isConnectionError, logger } from '#platform';

const log = logger('maintenance');

/** Tables whose rows lie in a partition for each month of UTC. */
export type PartitionedTable = 'usage_record' | 'audit_record';
const PARTITIONED_TABLES: readonly PartitionedTable[] = ['usage_record', 'audit_record'];

/** This month and those to come, counted from 0, whose partitions are kept ready. */
const MONTHS_AHEAD = [0, 1, 2] as const;

/**
 * How long removing a partition waits for each lock, and how long it may take in all, in milliseconds. Writers that come
 * meanwhile wait behind it, so the latter is also the longest that any of them is held up.
 */
const LOCK_WAIT_MS = 100;
export const DROP_LIMIT_MS = 400;

/** A lock that could not be had in time, and a statement that took too long. */
const GAVE_UP = new Set<unknown>(['55P03', '57014']);

/** $1 table, $2 months ahead. */
const ENSURE_PARTITION = `
select ensure_month_partition($1, (now() at time zone 'utc' + $2::integer * interval '1 month')::date)`;

/** Partitions whose last day lies more than $2 days back, the oldest first. $1 table. */
const OLD_PARTITIONS = `
select c.relname as name, greatest(c.reltuples, 0)::bigint as rows
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = to_regclass($1) and c.relname ~ ('^' || $1 || '_[0-9]{4}_[0-9]{2}$')
  and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= (now() at time zone 'utc')::date - $2::integer
order by c.relname`;

/** Rows that came when their month had no partition: the months of the old ones, to be dropped like the others. */
const strayMonths = (table: PartitionedTable): string => `
select ensure_month_partition('${table}', month) from (
  select date_trunc('month', min(created_at) at time zone 'utc')::date as month from ${table}_other
) oldest where month + interval '1 month' <= (now() at time zone 'utc')::date - $1::integer`;

/** Indexes of a table that some of its months lack, the statement that makes each, and both names. */
const missingIndexes = (table: PartitionedTable): string => `
select i.relname || right(p.relname, -length($1::text)) as name, i.relname as index, p.relname as partition,
  replace(pg_get_indexdef(i.oid), format('INDEX %I ON ONLY %I.%I', i.relname, n.nspname, $1::text),
    format('INDEX CONCURRENTLY %I ON %I.%I', i.relname || right(p.relname, -length($1::text)), n.nspname, p.relname)) as text
from pg_index x join pg_class i on i.oid = x.indexrelid and i.relkind = 'I' and not x.indisvalid
  join pg_inherits h on h.inhparent = x.indrelid join pg_class p on p.oid = h.inhrelid join pg_namespace n on n.oid = p.relnamespace
where x.indrelid = to_regclass('${table}') and not exists (
  select from pg_inherits c join pg_index o on o.indexrelid = c.inhrelid where c.inhparent = i.oid and o.indrelid = p.oid)
order by p.relname desc, i.relname`;

/** The lock of `ensure_month_partition`: makers and removers of partitions go one by one, on whatever replica. */
const TAKE_INDEX_TURN = `select pg_try_advisory_lock(hashtext('month_indexes')) as alone`;
const TAKE_TURN = `select pg_try_advisory_xact_lock(hashtext('ensure_month_partition')) as alone`;
const IS_THERE = `select to_regclass($1) is not null as there`;

interface MissingIndex extends Record<string, unknown> {
  readonly name: string;
  readonly index: string;
  readonly partition: string;
  readonly text: string;
}

interface OldPartition {
  readonly name: string;
  /** As the last analysis of the table estimated them. */
  readonly rows: bigint;
}

/** Makes the partitions of the coming months in time, and drops whole months past their retention. */
export class MonthPartitions {
  constructor(private readonly database: Database) {}

  /** Each on its own: a partition that cannot be made must not keep the others from being made in time. */
  async ensureAhead(): Promise<void> {
    for (const table of PARTITIONED_TABLES) {
      for (const monthsAhead of MONTHS_AHEAD) {
        await this.database
          .query({ text: ENSURE_PARTITION, values: [table, monthsAhead], limit: 'long' })
          .catch((error: unknown) => log.error('maintenance.partition_missing', { table, monthsAhead, error }));
      }
    }
  }

  /**
   * Makes the indexes that a version added while months were full already, newest first, while rows are written to them. One that
   * fails is made in a later round.
   */
  async ensureIndexes(): Promise<void> {
    for (const table of PARTITIONED_TABLES) {
      const { rows: missing } = await this.database.query<MissingIndex>({
        text: missingIndexes(table),
        values: [table],
      });
      if (missing.length > 0) await this.makeIndexes(missing);
    }
  }

  private makeIndexes(missing: readonly MissingIndex[]): Promise<void> {
    return this.database.session(async (session) => {
      const [turn] = (await session.query<{ alone: boolean }>({ text: TAKE_INDEX_TURN })).rows;
      if (turn?.alone !== true) return;
      for (const { name, index, partition, text } of missing) {
        try {
          // What an earlier try left is of no use.
          await session.query({ text: `drop index concurrently if exists "${name}"` });
          await session.query({ text });
          await session.query({ text: `alter index "${index}" attach partition "${name}"` });
          log.info('maintenance.index_made', { index, partition });
        } catch (error) {
          log.warn('maintenance.index_missing', { index, partition, error });
          if (isConnectionError(error)) return;
        }
      }
    });
  }

  /**
   * Drops the months of a table that are entirely older than `days`; 0 drops none. Answers the names of what went. A
   * month whose table is in use stays until a later round: readers and writers are never held up for longer than
   * `DROP_LIMIT_MS`.
   */
  async dropOlder(table: PartitionedTable, days: number): Promise<string[]> {
    if (days === 0) return [];
    await this.database.query({ text: strayMonths(table), values: [days], limit: 'long' });
    const { rows: old } = await this.database.query<OldPartition>({
      text: OLD_PARTITIONS,
      values: [table, days],
      limit: 'long',
    });
    const dropped: string[] = [];
    for (const partition of old) if (await this.drop(partition, days)) dropped.push(partition.name);
    return dropped;
  }

  /** The lock on the whole table lasts only while the catalogue changes; the files are removed after the commit. */
  private async drop({ name, rows }: OldPartition, days: number): Promise<boolean> {
    try {
      const isDropped = await this.database.transaction(async (transaction) => {
        const [turn] = (await transaction.query<{ alone: boolean }>({ text: TAKE_TURN })).rows;
        if (turn?.alone !== true) return false;
        const [found] = (await transaction.query<{ there: boolean }>({ text: IS_THERE, values: [name] })).rows;
        if (found?.there !== true) return false;
        await transaction.query({ text: `set local lock_timeout = '${LOCK_WAIT_MS}ms'` });
        await transaction.query({ text: `set local statement_timeout = '${DROP_LIMIT_MS}ms'` });
        await transaction.query({ text: `drop table "${name}"` });
        return true;
      });
      if (isDropped) log.info('maintenance.month_dropped', { partition: name, rows: rows.toString(), days });
      return isDropped;
    } catch (error) {
      if (!hasGivenUp(error)) throw error;
      log.info('maintenance.month_in_use', { partition: name });
      return false;
    }
  }
}

const hasGivenUp = (error: unknown): boolean => error instanceof Error && 'code' in error && GAVE_UP.has(error.code);
