import { Injectable } from '@nestjs/common';
import { GatewayError, type Micros } from '#contracts';
import { Database, logger, timeOrderedId } from '#platform';
import type { RequestHold } from '../billing/ledger/request-hold.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import type { PriceLine } from '../billing/ledger/request-usage.js';
import { notPaused, PausedWork } from '../observability/paused-work.js';
import { PriceBook, type PricesInForce } from '../billing/prices/price-book.js';
import type { PriceInForce } from '../billing/prices/price-rules.js';
import { STORAGE_MODEL, STORAGE_UNIT } from '../billing/prices/check-prices.js';
import { METERED } from './uploaded-file.js';

const log = logger('file-storage');

/** $1 most accounts: those whose day is over and that nothing kept from being charged lately. */
const OPEN_ACCOUNTS = `
select account_id as id from file_usage
where closed_on < (now() at time zone 'utc')::date and ${notPaused('file-storage', 'file_usage.account_id')}
order by closed_on limit $1`;
const BATCH = 100;

const MIB_DAY = 1024 * 1024 * 86_400;

/**
 * Closes the days of one account: whole MiB-days become due, the rest stays. What is still due from before is charged
 * first. $1 the bytes times seconds of one MiB-day, $2 the account.
 */
const CLOSE = `
with open as (
  select account_id from file_usage
  where account_id = $2 and closed_on < (now() at time zone 'utc')::date for update skip locked
), metered as (
  update file_usage u set ${METERED} from open where u.account_id = open.account_id
  returning u.account_id, u.byte_seconds, u.due_request_id, u.due_mb_days, u.api_key_id
)
select account_id as "accountId", api_key_id as "apiKeyId", due_request_id as "dueRequestId",
  coalesce(nullif(due_mb_days, 0), floor(byte_seconds / $1))::bigint as "mbDays" from metered`;

/** What was stored or removed while another changed the row: for the account whose row is locked. */
const COUNT_REST = 'select fold_text_bytes($1)';

const NOTE_DUE = `
update file_usage set due_request_id = $2, due_mb_days = $3::bigint, byte_seconds = byte_seconds - $3::bigint * $4::numeric
where account_id = $1 and due_request_id is null returning account_id`;

const PAID = `
update file_usage set due_request_id = null, due_mb_days = 0 where account_id = $1 and due_request_id = $2`;

const CLOSED = `
update file_usage set closed_on = (now() at time zone 'utc')::date where account_id = $1`;

const ALL_FREE = `
update file_usage set byte_seconds = 0, metered_at = now(), closed_on = (now() at time zone 'utc')::date
where closed_on < (now() at time zone 'utc')::date and due_request_id is null`;

/** What is due from before waits until the account has a price again. */
const FREE = `
update file_usage set byte_seconds = 0, metered_at = now(), closed_on = (now() at time zone 'utc')::date
where account_id = $1`;

interface OpenDays {
  readonly accountId: string;
  readonly apiKeyId: string | null;
  readonly dueRequestId: string | null;
  readonly mbDays: bigint;
}

/**
 * Charges accounts for the files and the responses that they keep, once for each day of UTC. What lay is noted with its request id before
 * it is held and charged, so that the process that continues after a crash charges the same and only once. While there is no price
 * it is free, and stays free. The price is that of the account's price list as it is charged.
 */
@Injectable()
export class StorageCharges {
  private readonly paused: PausedWork;

  constructor(
    private readonly database: Database,
    private readonly ledger: RequestLedger,
    private readonly prices: PriceBook,
  ) {
    this.paused = new PausedWork(database);
  }

  /** Charges the next accounts whose day is over, each whatever becomes of the others; false: there are no more. */
  async chargeDue(): Promise<boolean> {
    const inForce = await this.prices.inForce();
    if (![undefined, ...inForce.lists].some((list) => priceBy(inForce, list))) {
      await this.database.query({ text: ALL_FREE });
      return false;
    }
    const { rows } = await this.database.query<{ id: string }>({ text: OPEN_ACCOUNTS, values: [BATCH] });
    let closed = 0;
    for (const { id } of rows)
      await this.paused.attempt('file-storage', id, async () => {
        const price = priceBy(inForce, await this.prices.listOf(id));
        if (await this.close(id, price)) closed += 1;
      });
    return closed > 0 || rows.length === BATCH;
  }

  /** False: another process is at it. */
  private async close(accountId: string, price: PriceInForce | undefined): Promise<boolean> {
    if (!price) {
      await this.database.query({ text: FREE, values: [accountId] });
      return true;
    }
    const due = await this.due(accountId);
    if (!due) return false;
    if (due.mbDays > 0n && due.apiKeyId !== null) await this.charge(due, due.apiKeyId, price);
    await this.database.query({ text: CLOSED, values: [accountId] });
    return true;
  }

  /** What the account is charged, under its name; undefined: another process is at it. */
  private async due(accountId: string): Promise<OpenDays | undefined> {
    return this.database.transaction(async (transaction) => {
      const { rows } = await transaction.query<OpenDays>({ text: CLOSE, values: [MIB_DAY, accountId] });
      const [open] = rows;
      if (open) await transaction.query({ text: COUNT_REST, values: [accountId] });
      if (!open || open.dueRequestId !== null || open.mbDays === 0n) return open;
      const dueRequestId = timeOrderedId('storage');
      await transaction.query({ text: NOTE_DUE, values: [open.accountId, dueRequestId, open.mbDays, MIB_DAY] });
      return { ...open, dueRequestId };
    });
  }

  private async charge(due: OpenDays, apiKeyId: string, price: PriceInForce): Promise<void> {
    const { accountId, mbDays } = due;
    const requestId = due.dueRequestId ?? '';
    const line = lineOf(mbDays, price);
    const { amountMicros: chargeMicros } = line;
    const payer = { accountId, apiKeyId, requestId };
    const heldMicros = await this.hold({ ...payer, amountMicros: chargeMicros, leastMicros: 0n });
    const usage = usageOf(line);
    // A process that died may have held it before: its hold stands, or was given back.
    if (!(await this.ledger.capture({ requestId, chargeMicros, heldMicros, usage })))
      await this.ledger.captureUnheld({ ...payer, chargeMicros, usage });
    await this.database.query({ text: PAID, values: [accountId, requestId] });
  }

  /**
   * Nothing for an account that may begin nothing: one in debt, disabled or at a limit. The space was used all the same, and
   * what the balance lacks becomes a debt.
   */
  private async hold(hold: RequestHold): Promise<Micros> {
    try {
      return await this.ledger.hold(hold);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      log.info('storage.owed', { accountId: hold.accountId, code: error.code });
      return 0n;
    }
  }
}

/** Undefined: nothing is charged. */
function priceBy(inForce: PricesInForce, list: string | undefined): PriceInForce | undefined {
  const price = inForce.find(STORAGE_MODEL, STORAGE_UNIT, 'default', list);
  return price && price.amountMicros > 0n ? price : undefined;
}

/** Rounded half up to a whole micro, as every line. */
function lineOf(mbDays: bigint, price: PriceInForce): PriceLine & { readonly amountMicros: Micros } {
  const { id: priceId, variant, amountMicros: priceMicros, perQuantity, list, rule } = price;
  const amountMicros = (2n * mbDays * priceMicros + perQuantity) / (2n * perQuantity);
  const quantity = Number(mbDays);
  return {
    priceId,
    unit: STORAGE_UNIT,
    variant,
    priceMicros,
    perQuantity,
    quantity,
    amountMicros,
    ...(rule !== undefined && { list, rule }),
    source: 'counted',
  };
}

const usageOf = (line: PriceLine) => ({
  model: STORAGE_MODEL,
  upstream: null,
  status: 'completed' as const,
  lines: [line],
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  durationMs: 0,
});
