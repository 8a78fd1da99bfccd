import { Req } from '@nestjs/common';
import type { Request } from 'express';
import { type ConsoleWarning, formatMicros } from '#contracts';
import {
  AccountTasks,
  type AccountTasksQuery,
  OverviewFacts,
  onlyOwnKey,
  UsageService,
  type WholeBalance,
} from '#features';
import { callerOf } from '../http/api-key.guard.js';
import { dayIn } from '../list-query.js';
import { openSession } from './console-gate.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { BalanceView, taskOf } from './views.js';

const DAY_MS = 86_400_000;
const DAYS = 7;
const TASKS_SHOWN = 8;
/** A balance that lasts no longer is low. */
const LOW_DAYS = 3;

const EVERY: Omit<AccountTasksQuery, 'accountId' | 'keyId'> = {
  status: null,
  medium: null,
  model: null,
  createdFromMs: null,
  createdToMs: null,
  text: null,
};

/** The first page: the same sums as the usage page, and what needs attention. */
@ConsoleRoutes()
export class OverviewController {
  constructor(
    private readonly balances: BalanceView,
    private readonly usage: UsageService,
    private readonly tasks: AccountTasks,
    private readonly facts: OverviewFacts,
  ) {}

  @PageRoute('GET /overview')
  async read(@Req() request: Request) {
    const caller = callerOf(request);
    const { accountId } = caller;
    const { row, balance } = await this.balances.of(accountId);
    const { time_zone: timeZone } = balance;
    const to = dayIn(timeZone);
    const from = new Date(Date.parse(to) - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
    const days = { accountId, from, to, timeZone: timeZone === 'UTC' ? null : timeZone };
    const maySeeTasks = openSession(request).permissions.has('tasks:read');
    const query = { ...EVERY, accountId, keyId: onlyOwnKey(caller) };
    const [sums, facts, latest] = await Promise.all([
      this.usage.sums(days, ['day']),
      this.facts.of(accountId),
      maySeeTasks ? this.tasks.list(query, { limit: TASKS_SHOWN, cursor: null }) : { items: [] },
    ]);
    const spent = sums.reduce((sum, { amount_micros }) => sum + amount_micros, 0n);
    const count = (name: 'requests' | 'failed_requests'): number =>
      Number(sums.reduce((sum, row) => sum + row[name], 0n));
    const daysLeft =
      row.is_unlimited || spent <= 0n ? null : Number(row.available_micros / (spent / BigInt(DAYS) || 1n));
    return {
      balance,
      spent_today: formatMicros(sums.find(({ day }) => day === to)?.amount_micros ?? 0n),
      spent_7_days: formatMicros(spent),
      days_left: daysLeft,
      requests_7_days: count('requests'),
      failed_7_days: count('failed_requests'),
      open_tasks: facts.openTasks,
      latest_tasks: latest.items.map(taskOf),
      warnings: findWarnings(row, daysLeft, facts),
      checklist: { key: facts.hasKey, run: facts.hasRun, webhook: facts.hasWebhook },
    };
  }
}

function findWarnings(
  balance: WholeBalance,
  daysLeft: number | null,
  { failedDeliveries, keysExpiring }: { readonly failedDeliveries: number; readonly keysExpiring: number },
): ConsoleWarning[] {
  const warnings: ConsoleWarning[] = [];
  const warn = (code: ConsoleWarning['code'], message: string): void => void warnings.push({ code, message });
  if (balance.owed_micros > 0n)
    warn('owing', `${formatMicros(balance.owed_micros)} is owed; the next top-up pays it first.`);
  if (!balance.is_unlimited && balance.available_micros <= 0n) warn('balance_empty', 'Nothing is left to spend.');
  else if (daysLeft !== null && daysLeft < LOW_DAYS)
    warn('balance_low', `At this week's pace it lasts ${daysLeft} more days.`);
  if (failedDeliveries > 0) warn('webhooks_failing', `${failedDeliveries} webhooks were given up in the last day.`);
  if (keysExpiring > 0) warn('keys_expiring', `${keysExpiring} keys expire within 7 days.`);
  return warnings;
}
