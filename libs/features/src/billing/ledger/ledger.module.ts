import { Module } from '@nestjs/common';
import { AccountEntriesService } from './account-entries.service.js';
import { ReservationLedger } from './reservation-ledger.js';
import { BalanceService } from './balance.service.js';
import { HoldingProcess } from './holding-processes.js';
import { LedgerService } from './ledger.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RequestLedger } from './request-ledger.js';
import { SpendLimits } from './spend-limits.js';

const SERVICES = [
  AccountEntriesService,
  ReservationLedger,
  BalanceService,
  HoldingProcess,
  LedgerService,
  ReconciliationService,
  RequestLedger,
  SpendLimits,
];

/** The money of the accounts. */
@Module({ providers: SERVICES, exports: SERVICES })
export class LedgerModule {}
