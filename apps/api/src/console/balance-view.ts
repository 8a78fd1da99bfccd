import { Injectable } from '@nestjs/common';
import type { ConsoleBalance } from '#contracts';
import { BalanceService, SpendLimits, type WholeBalance } from '#features';
import { rowOf, spendLimitOf } from './views.js';

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
    const own = (limits.get(accountId) ?? []).map(spendLimitOf);
    return { row, balance: { ...rowOf<Omit<ConsoleBalance, 'limits'>>(row), limits: own } };
  }
}
