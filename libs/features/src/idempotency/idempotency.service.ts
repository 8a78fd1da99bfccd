import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database, lruCache, REQUEST_RETRY_MS, retryOnConnectionError, timeOrderedId } from '#platform';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import * as statements from '../billing/ledger/idempotency-statements.js';

export interface RepeatableRequest {
  readonly accountId: string;
  /** The header `Idempotency-Key`; null: the client's library repeats without one, and what is asked tells that it is the same. */
  readonly key: string | null;
  /** The API key whose requests alone may be repeated; null or absent: those of the whole account. */
  readonly onlyOwnKey?: string | null;
  /** What must be the same when it is repeated: the path and the body as it was sent. */
  readonly path: string;
  readonly body: string | Uint8Array;
  readonly requestId: string;
}

export interface NamedRequest extends RepeatableRequest {
  readonly fingerprint: Buffer;
  readonly recordKey: string;
}

/** An answer that was given before. */
export interface RecordedResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A task that an attempt before this one wrote, and then died. */
export interface WrittenTask {
  readonly taskId: string;
  readonly notices: readonly string[];
}

/** The exclusive right to do the work of a repeatable request. */
export interface Attempt {
  readonly accountId: string;
  readonly key: string;
  /** Names the attempt, and its hold and charge in the ledger; that of an earlier attempt when that one had paid. */
  readonly requestId: string;
  /** The id for the task, the same for every attempt: two that run at once still write one task. */
  readonly taskId: string;
  /** An earlier attempt stalled or died. It may wake up, and have done part of the work. */
  readonly resumed: boolean;
  /** An earlier attempt was charged for what nobody got: this one costs nothing, and no other one after it. */
  readonly isPaid?: boolean;
}

/** What to do with a request that carries a key. */
export type Beginning =
  | { readonly kind: 'work'; readonly attempt: Attempt }
  | { readonly kind: 'resume'; readonly attempt: Attempt; readonly task: WrittenTask | null }
  | { readonly kind: 'replay'; readonly answer: RecordedResponse };

interface RecordRow {
  readonly fingerprint: Buffer;
  readonly state: 'in_flight' | 'done';
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly response_content_type: string | null;
}

/** How long a request is known, in seconds; `full`: while its account has more of them than RECORDS_MAX. */
const KEPT_SECONDS = {
  withKey: { usual: 24 * 3_600, full: 15 * 60 },
  withoutKey: { usual: 15 * 60, full: 60 },
} as const;
/** So many requests of an account are known for their whole time. */
const RECORDS_MAX = 100_000;
/** After so many further ones they are counted again. */
const COUNTED_EVERY = 1_000;
/** How long a process believes a count of an account, in milliseconds. */
const COUNT_BELIEVED_MS = 600_000;
const KEY_FORM = /^[\u0021-\u007e]{1,255}$/;
const RETRY_AFTER_MS = 1_000;

/** How often the right to work is renewed, in milliseconds. */
export const RENEW_EVERY_MS = (statements.LOCK_SECONDS * 1000) / 3;

/**
 * Makes requests repeatable: the first with a key does the work, every later one with the same body gets its answer for
 * 24 hours, or for 15 minutes while very many of the account are known. One row in Postgres decides, so it holds across
 * replicas. A row whose worker died or stalled is taken over: that worker is shut out of the row and of its money (every statement that takes money renews the row first, or takes
 * nothing), and the task id it reserved leads the new attempt to what the old one had already written.
 */
@Injectable()
export class IdempotencyService {
  /** By account: how many requests began here, and whether it had too many when they were counted. */
  private readonly counts = lruCache<string, { begun: number; isFull: boolean }>(50_000, {
    ttl: COUNT_BELIEVED_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly ledger: RequestLedger,
  ) {}

  /** @throws GatewayError `invalid_parameter`: the key is malformed. */
  async name(sent: RepeatableRequest): Promise<NamedRequest> {
    if (sent.key !== null) expectKey(sent.key);
    const fingerprint = await fingerprintOf(sent);
    return { ...sent, fingerprint, recordKey: recordKeyOf(sent, fingerprint) };
  }

  /**
   * @param taskId what the request calls its task, if it makes one.
   * @throws GatewayError `idempotency_mismatch`: the key was used for another body; `idempotency_in_flight`: the first request
   * is still at work; `conflict`: its answer was not kept.
   */
  async begin(named: NamedRequest, taskId = timeOrderedId('task')): Promise<Beginning> {
    const { accountId, recordKey: key, fingerprint, requestId } = named;
    const { usual, full } = named.key === null ? KEPT_SECONDS.withoutKey : KEPT_SECONDS.withKey;
    const keptSeconds = (await this.isFull(accountId)) ? full : usual;
    const values = [accountId, key, fingerprint, requestId, taskId, keptSeconds];
    const begun = await this.ask(accountId, statements.BEGIN, values);
    if (begun.length > 0) return { kind: 'work', attempt: { accountId, key, requestId, taskId, resumed: false } };
    return (await this.resume(named)) ?? this.read(named);
  }

  /** Whether the first request with the key is still at work. */
  async isAtWork({ accountId, recordKey }: NamedRequest): Promise<boolean> {
    const values = [accountId, recordKey];
    const { rows } = await this.database.of(accountId).query({ text: statements.AT_WORK, values });
    return rows.length > 0;
  }

  /** Keeps others away for another minute. */
  async renew({ accountId, key, requestId }: Attempt): Promise<void> {
    await this.run(statements.RENEW, [accountId, key, requestId]);
  }

  /** Keeps the answer; without a body the key is used up, and repeating it says so. */
  async finish({ accountId, key, requestId }: Attempt, status: number, contentType: string, body: string | null) {
    const values = [accountId, key, requestId, status, body, contentType];
    await retryOnConnectionError(() => this.run(statements.FINISH, values), REQUEST_RETRY_MS);
  }

  /** The request was refused and nothing happened: the key is free again. */
  async forget({ accountId, key, requestId }: Attempt): Promise<void> {
    await this.run(statements.FORGET, [accountId, key, requestId]);
  }

  /** The attempt failed, and it or an earlier one may have written the task: the next may take over at once. */
  async unlock({ accountId, key, requestId }: Attempt): Promise<void> {
    await this.run(statements.UNLOCK, [accountId, key, requestId]);
  }

  /** Whether so many requests of the account are known that further ones are known for a short time. */
  private async isFull(accountId: string): Promise<boolean> {
    const count = this.counts.get(accountId) ?? { begun: 0, isFull: false };
    if (count.begun === 0) this.counts.set(accountId, count);
    count.begun += 1;
    if (count.begun % COUNTED_EVERY === 0) {
      const statement = { text: statements.COUNT, values: [accountId, RECORDS_MAX] };
      const { rows } = await this.database.of(accountId).query<{ records: number }>(statement);
      count.isFull = (rows[0]?.records ?? 0) >= RECORDS_MAX;
    }
    return count.isFull;
  }

  /**
   * The hold of the old attempt is given back first: then it has either been charged or never will be, and that
   * decides which attempt is charged.
   */
  private async resume({ accountId, recordKey: key, fingerprint, requestId }: NamedRequest): Promise<Beginning | null> {
    const record = [accountId, key, fingerprint];
    const [lapsed] = await this.ask<{ request_id: string }>(accountId, statements.LAPSED_ATTEMPT, record);
    if (!lapsed) return null;
    await this.ledger.releaseLost(lapsed.request_id);
    const [resumed] = await this.run<{ request_id: string; reserved_task_id: string | null }>(statements.RESUME, [
      ...record,
      lapsed.request_id,
      requestId,
    ]);
    if (!resumed) return null;
    const taskId = resumed.reserved_task_id ?? timeOrderedId('task');
    const [task] = await this.run<{ id: string; notices: string[] }>(statements.WRITTEN_TASK, [taskId, accountId]);
    return {
      kind: 'resume',
      attempt: {
        accountId,
        key,
        requestId: resumed.request_id,
        taskId,
        resumed: true,
        isPaid: resumed.request_id === lapsed.request_id,
      },
      task: task ? { taskId: task.id, notices: task.notices } : null,
    };
  }

  private async read({ accountId, recordKey, key, fingerprint }: NamedRequest): Promise<Beginning> {
    const [record] = await this.ask<RecordRow>(accountId, statements.READ, [accountId, recordKey]);
    if (!record || record.state === 'in_flight') {
      if (record && !record.fingerprint.equals(fingerprint)) throw mismatch();
      const first = key === null ? 'The first try of this request' : 'The first request with this Idempotency-Key';
      throw new GatewayError('idempotency_in_flight', `${first} is still running.`, { retryAfterMs: RETRY_AFTER_MS });
    }
    if (!record.fingerprint.equals(fingerprint)) throw mismatch();
    const { response_status: status, response_body: body, response_content_type: contentType } = record;
    if (status === null || body === null) {
      throw new GatewayError(
        'conflict',
        'The request with this Idempotency-Key was answered, but its answer is not kept: it was a stream, or too long beside the other answers that are kept of the account. Use a new key.',
      );
    }
    return { kind: 'replay', answer: { status, body, contentType: contentType ?? 'application/json; charset=utf-8' } };
  }

  /** Before anything is done for a request: on the share of its account, for repeats and what is refused cost it nothing. */
  private async ask<Row extends object>(accountId: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    return (await this.database.of(accountId).query<Row>({ text, values })).rows;
  }

  private async run<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return (await this.database.query<Row>({ text, values })).rows;
  }
}

/** No header can hold a space, so an account-wide key never meets the records that belong to one API key or to none. */
function recordKeyOf({ key, onlyOwnKey }: RepeatableRequest, fingerprint: Buffer): string {
  const named = key ?? ` ${fingerprint.toString('hex')}`;
  return onlyOwnKey ? `${onlyOwnKey} ${named}` : named;
}

/** What is hashed at once, in bytes; other work runs in between. */
const HASHED_AT_ONCE = 1024 * 1024;

async function fingerprintOf({ path, body }: RepeatableRequest): Promise<Buffer> {
  const hash = createHash('sha256').update(`${path}\n`);
  if (typeof body === 'string') return hash.update(body).digest();
  for (let from = 0; from < body.length; from += HASHED_AT_ONCE) {
    if (from > 0) await nextTurn();
    hash.update(body.subarray(from, from + HASHED_AT_ONCE));
  }
  return hash.digest();
}

function expectKey(key: string): void {
  if (KEY_FORM.test(key)) return;
  throw new GatewayError(
    'invalid_parameter',
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces; a UUID is a good choice.',
    { param: 'Idempotency-Key' },
  );
}

const mismatch = (): GatewayError =>
  new GatewayError(
    'idempotency_mismatch',
    'This Idempotency-Key was used for a request with another body or path; use a new key.',
    { param: 'Idempotency-Key' },
  );
