import { Module } from '@nestjs/common';
import { FundsService } from './billing/ledger/funds.service.js';
import { RecordsService } from './billing/ledger/records.service.js';
import { PriceImport } from './billing/prices/price-import.js';
import { PricePreview } from './billing/prices/price-preview.js';
import { PricesBelowCost } from './billing/prices/prices-below-cost.js';
import { PricesModule } from './billing/prices/prices.module.js';
import { PricesService } from './billing/prices/prices.service.js';
import { MediaUpstreamsService, TextUpstreamsService } from './upstreams/upstream-admin.js';
import { AccountsService } from './accounts/accounts.service.js';
import { AuditedChanges } from './audit/audit.js';
import { KeysService } from './accounts/keys.service.js';

const SERVICES = [
  AccountsService,
  AuditedChanges,
  FundsService,
  KeysService,
  PriceImport,
  PricePreview,
  PricesBelowCost,
  PricesService,
  RecordsService,
  MediaUpstreamsService,
  TextUpstreamsService,
];

/** What operators do. Needs the TextModule, which is global. */
@Module({ imports: [PricesModule], providers: SERVICES, exports: SERVICES })
export class AdminModule {}
