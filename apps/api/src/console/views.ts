import { Injectable } from '@nestjs/common';
import {
  type ConsoleApi,
  type ConsoleBalance,
  type ConsoleChargeLine,
  type ConsoleDelivery,
  type ConsoleEntry,
  type ConsoleKey,
  type ConsoleSpendLimit,
  type ConsoleTask,
  type ConsoleUsageRecord,
  type TaskFileView,
} from '#contracts';
import {
  type AccountTask,
  BalanceService,
  type KeyView,
  type Page,
  PeopleService,
  type ShownDelivery,
  type SpendLimit,
  SpendLimits,
  type WholeBalance,
} from '#features';
import { viewOfRow } from '../row-view.js';

/** Unix seconds as the ISO text that the console shows. */
export const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString();
const timeOrNull = (seconds: number | null): string | null => (seconds === null ? null : timeOf(seconds));

/** A part of a list whose rows have the names of the contract, but for amounts and times. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what the rows are in the contract
export const listOf = <Item>({ items, nextCursor }: Page<object>): { items: Item[]; next_cursor: string | null } => ({
  items: items.map((row) => viewOfRow(row) as Item),
  next_cursor: nextCursor,
});

/** A row that has the names of the contract, but for amounts and times. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what the row is in the contract
export const rowOf = <Item>(row: object): Item => viewOfRow(row) as Item;

/** Reads the money of an account with its limits, as pages show them. */
@Injectable()
export class BalanceView {
  constructor(
    private readonly balances: BalanceService,
    private readonly limits: SpendLimits,
  ) {}

  /** The balance, and the row it was built from. @throws GatewayError `not_found`. */
  async of(accountId: string): Promise<{ readonly row: WholeBalance; readonly balance: ConsoleBalance }> {
    const [row, limits] = await Promise.all([this.balances.whole(accountId), this.limits.ofAccounts([accountId])]);
    const own = (limits.get(accountId) ?? []).map(rowOf<ConsoleSpendLimit>);
    return { row, balance: { ...rowOf<Omit<ConsoleBalance, 'limits'>>(row), limits: own } };
  }
}

/** Data about keys that is not in their rows: the names of the users who created them, and their limits. */
export interface AboutKeys {
  readonly names: ReadonlyMap<string, string>;
  readonly limits: ReadonlyMap<string, readonly SpendLimit[]>;
}

/** Reads what pages show of keys beside their rows. */
@Injectable()
export class KeyFacts {
  constructor(
    private readonly people: PeopleService,
    private readonly limits: SpendLimits,
  ) {}

  async of(rows: readonly KeyView[]): Promise<AboutKeys> {
    const [names, limits] = await Promise.all([
      this.people.namesOf(rows.flatMap(({ createdBy }) => createdBy ?? [])),
      this.limits.ofKeys(rows.map(({ id }) => id)),
    ]);
    return { names, limits };
  }
}

/** A key. `userId`: the viewer. */
export function keyOf(row: KeyView, { names, limits }: AboutKeys, userId: string | null): ConsoleKey {
  const { accountId: _accountId, dailyLimitMicros: _daily, monthlyLimitMicros: _monthly, createdBy, ...shown } = row;
  const { revokedAt, expiresAt } = row;
  return {
    ...rowOf<Omit<ConsoleKey, 'state' | 'created_by' | 'is_own' | 'limits'>>(shown),
    state: revokedAt ? 'revoked' : expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'active',
    created_by: createdBy === null ? null : { id: createdBy, name: names.get(createdBy) ?? '' },
    is_own: createdBy !== null && createdBy === userId,
    limits: (limits.get(row.id) ?? []).map(rowOf<ConsoleSpendLimit>),
  };
}

export const filesOf = (result: AccountTask['view']['result']): ConsoleTask['files'] =>
  [...(result?.videos ?? []), ...(result?.images ?? [])].map(toFile);

/** A task as galleries and lists show it. */
export function taskOf({ view, keyId, keyName, prompt }: AccountTask): ConsoleTask {
  const { result, cancellation, usage } = view;
  return {
    id: view.id,
    type: view.type,
    model: view.model,
    status: view.status,
    progress: view.progress,
    queue_position: view.queue_position ?? null,
    created_at: timeOf(view.created),
    started_at: timeOrNull(view.started),
    completed_at: timeOrNull(view.completed),
    key: { id: keyId, name: keyName },
    prompt,
    poster: null,
    files: filesOf(result),
    error: view.error,
    amount: usage.amount,
    is_final: usage.final,
    cancellation: cancellation
      ? { requested_at: timeOf(cancellation.requested), outcome: cancellation.outcome, message: cancellation.message }
      : null,
  };
}

const toFile = (file: TaskFileView): ConsoleTask['files'][number] => ({
  url: file.url,
  is_expired: file.expired === true,
  expires_at: timeOrNull(file.expires_at),
  content_type: file.content_type,
  width: file.width,
  height: file.height,
  duration: file.duration,
  bytes: file.bytes,
});

export const deliveryOf = ({ state, ...delivery }: ShownDelivery): ConsoleDelivery =>
  rowOf<ConsoleDelivery>({ ...delivery, status: state });

/** An entry of the ledger with what it paid for. */
export function entryOf(row: object): ConsoleEntry {
  const entry = rowOf<ConsoleEntry>(row);
  return { ...entry, usage: entry.usage && { ...entry.usage, lines: entry.usage.lines.map(toLine) } };
}

/** A line as it was written when it was charged: media are priced by the piece, and early lines do not name all. */
function toLine(line: object): ConsoleChargeLine {
  const fields = line as Readonly<Record<string, unknown>>;
  const {
    unit,
    variant,
    quantity,
    price,
    per_quantity,
    amount,
    price_id,
    from_input_tokens: from,
    price_rule,
  } = fields;
  return {
    unit: String(unit),
    variant: typeof variant === 'string' ? variant : 'default',
    quantity: Number(quantity),
    unit_price: typeof price === 'string' ? price : null,
    per_quantity: per_quantity === undefined ? 1 : Number(per_quantity),
    amount: String(amount),
    price_id: typeof price_id === 'string' ? price_id : null,
    ...(typeof from === 'number' && { from_input_tokens: from, band_tokens: Number(fields['band_tokens']) }),
    ...(typeof price_rule === 'string' && { price_list: String(fields['price_list']), price_rule }),
  };
}

/** A usage record without its account, which the viewer knows. */
export function usageRecordOf(row: object): ConsoleUsageRecord {
  const { account_id: _accountId, ...record } = rowOf<ConsoleUsageRecord & { account_id: string }>(row);
  return { ...record, lines: record.lines.map(toLine) };
}

export type AnswerOf<Name extends keyof ConsoleApi> = ConsoleApi[Name]['answer'];
