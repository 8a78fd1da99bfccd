import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import { Batcher, Database, logger, SecretSealer, signals, timeOrderedId } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { KeptRequest, keptAnswer } from './prompt-text.js';
import { Redaction, RedactionTime } from './redaction.js';

const log = logger('prompt-log');
const compress = promisify(brotliCompress);

interface WaitingEntry {
  readonly accountId: string;
  readonly requestId: string;
  readonly apiKeyId: string;
  readonly model: string;
  readonly session: string | undefined;
  readonly request: KeptRequest;
  readonly answer: string;
  readonly isCut: boolean;
  readonly at: Date;
}

export interface SealedTexts {
  /** The JSON of the body that the client sent. */
  readonly request: string;
  /** The words, thoughts and arguments of calls that were answered. */
  readonly answer: string;
  /** True: one of both was longer than what is kept. */
  readonly cut: boolean;
}

/** What the log of an account says now. */
interface LogRow {
  readonly id: string;
  readonly sealed_key: Buffer;
  readonly redactions: string[];
}

/** What a row takes beside its sealed texts, its places in indexes included, in bytes. */
const ROW_BYTES = 256;

/** Most entries and characters that one statement writes, and that wait. */
const AT_ONCE = 16;
const CHARACTERS_AT_ONCE = 2 * 1024 * 1024;
const WAITING_MAX = 2_000;
const CHARACTERS_WAITING = 32 * 1024 * 1024;
/** What waits so long is dropped, in milliseconds. */
const WAIT_MS = 60_000;

/** Enough for text that repeats itself, at a tenth of the time of the best. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const OPEN_LOG =
  'select id, sealed_key, redactions from prompt_log where account_id = $1 and is_on and ended_at is null';

/** Nothing where the log was switched off or deleted meanwhile. $1 log; of each entry $2 to $8. Answers what the log has now, in bytes. */
const ADD = `
with open as (
  select id from prompt_log where id = $1 and is_on and ended_at is null for no key update
), kept as (
  insert into prompt_entry (id, log_id, request_id, api_key_id, model, session, sealed, kept_bytes, created_at)
  select given.id, open.id, request_id, api_key_id, model, session, sealed, octet_length(sealed) + ${ROW_BYTES}, created_at
  from open cross join unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::timestamptz[])
    as given (id, request_id, api_key_id, model, session, sealed, created_at)
  returning kept_bytes
)
update prompt_log set kept_bytes = kept_bytes + (select coalesce(sum(kept_bytes), 0) from kept)
where id = $1 and exists (select from open) returning kept_bytes::float8 as bytes`;

/** The most bytes that one statement removes, but for its last row. */
const BYTES_AT_ONCE = 64 * 1024 * 1024;

/** $1 log, $2 how many bytes have to go: the oldest ones. */
const FORGET_OLDEST = `
with oldest as (
  select id, created_at, kept_bytes from prompt_entry where log_id = $1
  order by created_at, id limit 2000 for update skip locked
), measured as (
  select id, coalesce(sum(kept_bytes) over (order by created_at, id rows between unbounded preceding and 1 preceding), 0) as before
  from oldest
), gone as (
  delete from prompt_entry where id = any(array(
    select id from measured where before < least($2::float8, ${BYTES_AT_ONCE}))) returning kept_bytes
)
update prompt_log set kept_bytes = greatest(kept_bytes - (select coalesce(sum(kept_bytes), 0) from gone), 0)
where id = $1 returning kept_bytes::float8 as bytes`;

/** How long one statement's work makes room after itself, in milliseconds; the next one goes on. */
const MAKING_ROOM_MS = 5_000;

/**
 * Keeps prompts and answers of accounts that want them, beside the requests and never in their way: what waits is bounded for all and
 * for each account, and what finds no place is dropped and counted.
 */
@Injectable()
export class PromptLogWriter {
  private readonly bytesMax: number;
  private readonly time = new RedactionTime();
  private readonly pending = new Set<Promise<void>>();
  private readonly waiting = new Batcher((entries: readonly WaitingEntry[]) => this.writeEach(entries), {
    maxItems: AT_ONCE,
    maxRunsInFlight: 1,
    keyOf: ({ accountId }: WaitingEntry) => accountId,
    maxWaiting: WAITING_MAX,
    maxWaitMs: WAIT_MS,
    sizes: {
      of: ({ request, answer }: WaitingEntry) => request.size + answer.length,
      maxRun: CHARACTERS_AT_ONCE,
      maxWaiting: CHARACTERS_WAITING,
    },
  });

  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
    @Inject(PLATFORM) { config }: Pick<Platform, 'config'>,
  ) {
    this.bytesMax = config.retention.PROMPT_LOG_ACCOUNT_MB * 1024 * 1024;
  }

  /** Takes a copy of what is kept, and writes it later. Never throws. */
  add(
    entry: Omit<WaitingEntry, 'request' | 'answer' | 'isCut' | 'at'> & {
      readonly body: unknown;
      readonly answer: string;
    },
  ): void {
    const { body, ...facts } = entry;
    const request = new KeptRequest(body);
    const { text, isCut } = keptAnswer(entry.answer);
    const writing = this.waiting
      .add({ ...facts, request, answer: text, isCut: isCut || request.isCut, at: new Date() })
      .then(
        (isKept) => signals.promptEntries.inc({ outcome: isKept ? 'kept' : 'dropped' }),
        () => signals.promptEntries.inc({ outcome: 'dropped' }),
      )
      .finally(() => this.pending.delete(writing));
    this.pending.add(writing);
  }

  /** Resolves when what was added until now is written or dropped. */
  async settled(): Promise<void> {
    await Promise.all(this.pending);
  }

  /** Each account alone, so that one whose statement fails drops its own entries only. Answers which entries were kept. */
  private async writeEach(entries: readonly WaitingEntry[]): Promise<boolean[]> {
    const kept = new Set<WaitingEntry>();
    for (const [accountId, own] of byAccount(entries))
      try {
        for (const entry of await this.write(accountId, own)) kept.add(entry);
      } catch (error) {
        log.warn('prompt_log.not_written', { accountId, entries: own.length, error });
      }
    return entries.map((entry) => kept.has(entry));
  }

  private async write(accountId: string, entries: readonly WaitingEntry[]): Promise<readonly WaitingEntry[]> {
    const database = this.database.of(accountId);
    const { rows } = await database.query<LogRow>({ text: OPEN_LOG, values: [accountId] });
    const [open] = rows;
    if (!open) return [];
    const sealer = this.sealer.withKey(open.sealed_key, open.id);
    const redaction = new Redaction(open.redactions);
    const sealed: { readonly entry: WaitingEntry; readonly id: string; readonly bytes: Buffer }[] = [];
    for (const entry of entries) {
      if (!this.time.hasSome(accountId)) continue;
      const before = redaction.busyMs;
      const texts = await cleaned(entry, redaction);
      this.time.take(accountId, redaction.busyMs - before);
      if (!texts) continue;
      const id = timeOrderedId('prompt');
      sealed.push({ entry, id, bytes: sealer.seal(await compress(JSON.stringify(texts), QUICKLY), id) });
    }
    if (sealed.length === 0) return [];
    const added = await database.query<{ bytes: number }>({
      text: ADD,
      values: [
        open.id,
        sealed.map(({ id }) => id),
        sealed.map(({ entry }) => entry.requestId),
        sealed.map(({ entry }) => entry.apiKeyId),
        sealed.map(({ entry }) => entry.model),
        sealed.map(({ entry }) => entry.session ?? null),
        sealed.map(({ bytes }) => bytes),
        sealed.map(({ entry }) => entry.at),
      ],
    });
    const [counted] = added.rows;
    if (!counted) return [];
    await this.makeRoom(accountId, open.id, counted.bytes);
    return sealed.map(({ entry }) => entry);
  }

  /** The oldest go until the rest is within the bound. */
  private async makeRoom(accountId: string, logId: string, bytes: number): Promise<void> {
    const began = performance.now();
    for (let left = bytes; left > this.bytesMax && performance.now() - began < MAKING_ROOM_MS;) {
      const values = [logId, left - this.bytesMax];
      const { rows } = await this.database.of(accountId).query<{ bytes: number }>({ text: FORGET_OLDEST, values });
      const now = rows[0]?.bytes ?? 0;
      if (now >= left) return;
      left = now;
    }
  }
}

function byAccount(entries: readonly WaitingEntry[]): ReadonlyMap<string, readonly WaitingEntry[]> {
  const accounts = new Map<string, WaitingEntry[]>();
  for (const entry of entries) accounts.set(entry.accountId, [...(accounts.get(entry.accountId) ?? []), entry]);
  return accounts;
}

/** Undefined: it takes too long, and nothing of it may be kept. */
async function cleaned(entry: WaitingEntry, redaction: Redaction): Promise<SealedTexts | undefined> {
  try {
    const [answer = '', ...texts] = await redaction.clean([entry.answer, ...entry.request.texts]);
    return { request: entry.request.json(texts), answer, cut: entry.isCut };
  } catch (error) {
    log.warn('prompt_log.not_redacted', { accountId: entry.accountId, requestId: entry.requestId, error });
    return undefined;
  }
}
