import { Database, systemClock } from '#platform';
import { loadTokenCounter, type OpenTextProviders } from '#providers';
import { type DynamicModule, Module, type OnModuleDestroy } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RequestLedger } from '../ledger/request-ledger.js';
import { LimitsModule } from '../limits/limits.module.js';
import { RateLimits } from '../limits/rate-limits.js';
import { PricesModule } from '../prices/prices.module.js';
import { TextPrices } from '../prices/text-prices.js';
import { ItemStore } from './item-store.js';
import { LedgerTextBilling } from './ledger-text-billing.js';
import { TextRouter } from './text-router.js';
import { TextService } from './text.service.js';
import { TextUpstreams } from './text-upstreams.js';
import { LocalCooldownBoard, UpstreamHealth } from './upstream-health.js';

/** Settles what is left and closes the connections to the upstreams when the app closes. */
class TextClosing implements OnModuleDestroy {
  constructor(
    private readonly text: TextService,
    private readonly open: OpenTextProviders,
  ) {}

  async onModuleDestroy(): Promise<void> {
    await this.text.close();
    await this.open.close();
  }
}

/** Answering text requests in three styles over the given upstreams. */
@Module({})
export class TextModule {
  static over(open: OpenTextProviders): DynamicModule {
    return {
      module: TextModule,
      imports: [LedgerModule, LimitsModule, PricesModule],
      providers: [
        { provide: TextUpstreams, useFactory: () => new TextUpstreams(open.providers) },
        {
          provide: TextClosing,
          inject: [TextService],
          useFactory: (text: TextService) => new TextClosing(text, open),
        },
        { provide: ItemStore, inject: [Database], useFactory: (database: Database) => new ItemStore(database) },
        {
          provide: TextService,
          inject: [TextUpstreams, RequestLedger, TextPrices, RateLimits],
          useFactory: (models: TextUpstreams, ledger: RequestLedger, prices: TextPrices, limits: RateLimits) =>
            new TextService(
              new TextRouter(
                models,
                new UpstreamHealth(systemClock, new LocalCooldownBoard()),
                systemClock,
                open.retryBudgetMs,
              ),
              new LedgerTextBilling(ledger, prices, limits),
              loadTokenCounter,
              systemClock,
            ),
        },
      ],
      exports: [TextService, TextUpstreams, ItemStore],
    };
  }
}
