import { Param, Req } from '@nestjs/common';
import { ValidateIf } from 'class-validator';
import type { Request, Response } from 'express';
import {
  type ConsoleEntryExplained,
  type ConsoleTagLimit,
  type ConsoleUsage,
  formatMicros,
  GatewayError,
} from '#contracts';
import {
  AccountEntriesService,
  type AccountEntryRow,
  AccountsService,
  BalanceService,
  KeysService,
  PricesService,
  TagLimitsService,
  USAGE_SUMS,
  UsageService,
  type UsageSum,
} from '#features';
import { CheckedBody, CheckedQuery } from '../checked-input.js';
import { AccountId, callerOf } from '../http/api-key.guard.js';
import type { SerializedBody } from '../http/serialized-body.js';
import { IsText, OrNull } from '../input-fields.js';
import { daysOf, EntriesQuery, groupsOf, recordsOf, UsageRecordsQuery, UsageSumsQuery } from '../list-query.js';
import { IsTimeZoneName, toAccountSettings } from '../account.dto.js';
import { csvOf, sendItems } from '../send-list.js';
import { actorOf, PageRoute, ConsoleRoutes } from './console-routes.js';
import { BalanceView, entryOf, rowOf, usageRecordOf } from './views.js';
import { Reply } from '../http/route.js';

const RELATED_SHOWN = 100;

/** Where an explanation comes from. */
interface Sources {
  readonly entries: AccountEntriesService;
  readonly keys: KeysService;
  readonly prices: PricesService;
  readonly accountId: string;
}

/** An entry with all that belongs to the same work: hold, capture and release stand beside each other. */
async function explained(
  row: AccountEntryRow,
  { entries, keys, prices, accountId }: Sources,
): Promise<ConsoleEntryExplained> {
  const { task_id: taskId, request_id: requestId, api_key_id: keyId } = row;
  const isWork = taskId !== null || requestId !== null;
  const query = { accountId, taskId, requestId: taskId === null ? requestId : null };
  const page = isWork ? await entries.list(query, { limit: RELATED_SHOWN, cursor: null }) : { items: [row] };
  const related = page.items.some(({ id }) => id === row.id) ? page.items : [...page.items, row];
  const shown = related.map(entryOf).toSorted((one, other) => Number(BigInt(one.id) - BigInt(other.id)));
  // What a price list changed is no longer the price of the book, which is not theirs to see.
  const priceIds = shown.flatMap(
    ({ usage }) =>
      usage?.lines.flatMap(({ price_id, price_rule }) => (price_rule === undefined ? (price_id ?? []) : [])) ?? [],
  );
  return {
    entry: entryOf(row),
    related: shown,
    key_name: keyId === null ? null : (await keys.read(keyId)).name,
    prices: (await prices.named([...new Set(priceIds)])).map(rowOf<ConsoleEntryExplained['prices'][number]>),
  };
}

class NoticeBody {
  @OrNull() @IsText(40) low_balance!: string | null;
}

class TimeZoneBody {
  @ValidateIf(({ time_zone: zone }: TimeZoneBody) => zone !== null) @IsTimeZoneName() time_zone!: string | null;
}

/** What the account used, has and paid: the same rows as the public interface shows. */
@ConsoleRoutes()
export class ConsoleMoneyController {
  constructor(
    private readonly usage: UsageService,
    private readonly balances: BalanceService,
    private readonly entries: AccountEntriesService,
    private readonly keys: KeysService,
    private readonly prices: PricesService,
    private readonly balance: BalanceView,
    private readonly accounts: AccountsService,
    private readonly tagLimits: TagLimitsService,
  ) {}

  @PageRoute('GET /usage')
  async sums(
    @CheckedQuery(UsageSumsQuery) asked: UsageSumsQuery,
    @AccountId() accountId: string,
  ): Promise<ConsoleUsage | SerializedBody> {
    const timeZone = await this.usage.timeZoneOf(accountId);
    const days = daysOf(asked, accountId, timeZone);
    const sums = await this.usage.sums(days, groupsOf(asked.group_by, ['day', 'model', 'key', 'tag']));
    if (asked.format === 'csv') return csvOf(sums);
    const owedMicros = (await this.balances.ofAccount(accountId))?.owedMicros ?? 0n;
    return {
      from: days.from,
      to: days.to,
      time_zone: timeZone ?? 'UTC',
      items: sums.map(({ account_id: _accountId, ...sum }) => rowOf<ConsoleUsage['items'][number]>(sum)),
      total: rowOf<ConsoleUsage['total']>(totalOf(sums)),
      owed: formatMicros(owedMicros),
      key_names: Object.fromEntries((await this.keys.list(accountId)).map(({ id, name }) => [id, name])),
    };
  }

  @PageRoute('GET /usage/records')
  async records(
    @CheckedQuery(UsageRecordsQuery) list: UsageRecordsQuery,
    @AccountId() accountId: string,
    @Reply() response: Response,
  ) {
    const asked = recordsOf(list, accountId, await this.usage.timeZoneOf(accountId));
    return sendItems(response, list, (page) => this.usage.records(asked, page), usageRecordOf);
  }

  @PageRoute('GET /tag-limits')
  async listTagLimits(@AccountId() accountId: string) {
    const limits = await this.tagLimits.list(accountId);
    return { items: limits.map(rowOf<ConsoleTagLimit>) };
  }

  @PageRoute('GET /billing')
  async read(@AccountId() accountId: string) {
    return (await this.balance.of(accountId)).balance;
  }

  @PageRoute('POST /billing/notice')
  async notice(@CheckedBody(NoticeBody) { low_balance: below }: NoticeBody, @Req() request: Request) {
    const { accountId } = callerOf(request);
    await this.accounts.update(actorOf(request), accountId, toAccountSettings({ low_balance: below }));
    return (await this.balance.of(accountId)).balance;
  }

  /** In which the account has its days and months from now on. */
  @PageRoute('POST /billing/time-zone')
  async timeZone(@CheckedBody(TimeZoneBody) { time_zone: zone }: TimeZoneBody, @Req() request: Request) {
    const { accountId } = callerOf(request);
    await this.accounts.moveDays(actorOf(request), accountId, zone === 'UTC' ? null : zone);
    return (await this.balance.of(accountId)).balance;
  }

  @PageRoute('GET /billing/entries')
  list(@CheckedQuery(EntriesQuery) list: EntriesQuery, @AccountId() accountId: string, @Reply() response: Response) {
    const narrowed = { accountId, taskId: list.task_id ?? null, requestId: list.request_id ?? null };
    return sendItems(response, list, (page) => this.entries.list(narrowed, page), entryOf);
  }

  /** An entry with those of the same work, its key and the prices that its lines name. */
  @PageRoute('GET /billing/entries/:entry_id')
  async explain(@Param('entry_id') id: string, @AccountId() accountId: string) {
    const entry = /^\d{1,18}$/.test(id) ? await this.entries.read(accountId, id) : null;
    if (!entry) throw new GatewayError('not_found', 'There is no such entry in this account.', { param: 'entry_id' });
    return explained(entry, { entries: this.entries, keys: this.keys, prices: this.prices, accountId });
  }
}

const totalOf = (sums: readonly UsageSum[]): object =>
  Object.fromEntries(USAGE_SUMS.map((name) => [name, sums.reduce((total, sum) => total + sum[name], 0n)]));
