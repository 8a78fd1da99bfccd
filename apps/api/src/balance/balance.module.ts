import { AccessModule, LedgerModule } from '#features';
import { Module } from '@nestjs/common';
import { BalanceController } from './balance.controller.js';

/** Asking for balances. */
@Module({ imports: [AccessModule, LedgerModule], controllers: [BalanceController] })
export class BalanceModule {}
