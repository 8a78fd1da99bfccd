import { Module } from '@nestjs/common';
import { FundsService } from './billing/ledger/funds.service.js';
import { RecordsService } from './billing/ledger/records.service.js';
import { PriceImport } from './billing/prices/price-import.js';
import { PriceListsService } from './billing/prices/price-lists.service.js';
import { PricePreview } from './billing/prices/price-preview.js';
import { PricesBelowCost } from './billing/prices/prices-below-cost.js';
import { PricesModule } from './billing/prices/prices.module.js';
import { PricesService } from './billing/prices/prices.service.js';
import { PriceNamesService } from './billing/proposals/price-names.service.js';
import { PriceSimulation } from './billing/proposals/price-simulation.service.js';
import { PriceProposalsService } from './billing/proposals/price-proposals.service.js';
import { MediaUpstreamsService, TextUpstreamsService } from './upstreams/upstream-admin.js';
import { AccountsService } from './accounts/accounts.service.js';
import { AuditedChanges } from './audit/audit.js';
import { KeysService } from './accounts/keys.service.js';
import { TagLimitsService } from './accounts/tag-limits.service.js';
import { PromptLogService } from './prompt-log/prompt-log.service.js';

const SERVICES = [
  AccountsService,
  AuditedChanges,
  FundsService,
  KeysService,
  PriceImport,
  PriceListsService,
  PriceNamesService,
  PricePreview,
  PriceProposalsService,
  PriceSimulation,
  PricesBelowCost,
  PricesService,
  PromptLogService,
  RecordsService,
  TagLimitsService,
  MediaUpstreamsService,
  TextUpstreamsService,
];

/** What operators do. Needs the TextModule, which is global. */
@Module({ imports: [PricesModule], providers: SERVICES, exports: SERVICES })
export class AdminModule {}
