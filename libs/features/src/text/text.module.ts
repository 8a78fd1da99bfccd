import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Cooldowns, createCooldowns, ForwardedUrls, PeriodicTask, signals, systemClock, Turns } from '#platform';
import { loadTokenCounter, type OpenTextUpstreams } from '#providers';
import { PLATFORM, type Platform } from '#runtime';
import { FileSearch } from '../file-search/file-search.js';
import { SemanticSearch } from '../file-search/vectors/semantic-search.js';
import { PassageEmbedder } from '../file-search/vectors/passage-embedder.js';
import { PassageVectors, TEXT_EMBEDDER } from '../file-search/vectors/passage-vectors.js';
import { MeteredEmbedder } from './embeddings/metered-embedder.js';
import { FileSearchModule } from '../file-search/file-search.module.js';
import { Reservations } from '../billing/ledger/reservations.js';
import { LedgerModule } from '../billing/ledger/ledger.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { PriceBook } from '../billing/prices/price-book.js';
import { PricesModule } from '../billing/prices/prices.module.js';
import { textPricesBelowCost } from '../billing/prices/text-below-cost.js';
import { ModelsOnSale } from './models-on-sale.js';
import { Conversations } from './conversations.js';
import { EmbeddingsRouter } from './embeddings/embeddings-router.js';
import { EmbeddingsService } from './embeddings/embeddings.service.js';
import { ItemStore } from './item-store.js';
import { HostedTools } from './hosted-tools/hosted-tools.js';
import { LedgerTextBilling } from './ledger-text-billing.js';
import { PromptLogWriter } from '../prompt-log/prompt-log-writer.js';
import { TextCalls } from './text-calls.js';
import { TextRouter } from './text-router.js';
import { TextService } from './text.service.js';
import { RunningTexts } from './client-connection.js';
import { placeOf, TextUpstreams } from '../upstreams/text-upstreams.js';
import { TextCircuits } from '../upstreams/upstream-circuits.js';
import { OPEN_TEXT_UPSTREAMS, TextUpstreamRegistry } from '../upstreams/upstream-registry.js';

/** How often files that wait for vectors are looked for, in milliseconds. */
const VECTORS_MS = 1_000;

/** How often prices are compared with costs, in milliseconds: what a change of either takes to be followed at most. */
const LOSSES_MS = 2_000;

/** How long costs are taken to stay what they are while nobody changes them, in milliseconds: their rates have dates. */
const RATES_MS = 30_000;

/** Knows the upstreams before the first request; settles what is left and closes their connections after the last. */
@Injectable()
class TextLifetime implements OnModuleInit, OnModuleDestroy {
  private readonly vectors = new PeriodicTask('file-vectors', VECTORS_MS, () => this.embedder.embedNext());

  private readonly losses = new PeriodicTask('price-below-cost', LOSSES_MS, async () => {
    await this.leaveOutBelowCost();
    return false;
  });

  private compared: { readonly inForce: object; readonly all: object; readonly at: number } | undefined;

  constructor(
    private readonly prices: PriceBook,
    private readonly text: TextService,
    private readonly embeddings: EmbeddingsService,
    private readonly billing: LedgerTextBilling,
    private readonly reservations: Reservations,
    private readonly registry: TextUpstreamRegistry,
    private readonly cooldowns: Cooldowns,
    private readonly upstreams: TextUpstreams,
    private readonly circuits: TextCircuits,
    private readonly embedder: PassageEmbedder,
    private readonly vendors: MeteredEmbedder,
    private readonly calls: TextCalls,
    private readonly prompts: PromptLogWriter,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.registry.start();
    await this.leaveOutBelowCost();
    this.losses.start();
    this.platform.metrics.add({ name: 'upstreams', collect: () => this.showResting() });
    if (this.platform.config.files.FILE_EMBEDDING_MODEL !== undefined) this.vectors.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.vendors.close();
    await Promise.all([this.vectors.stop(), this.losses.stop()]);
    await Promise.all([this.text.close(), this.embeddings.close()]);
    await this.billing.close();
    await this.reservations.close();
    await this.calls.write();
    await this.prompts.settled();
    await Promise.all([this.registry.close(), this.cooldowns.close()]);
  }

  /** Only where an entry asks for it: others sell below cost, and operators are told. */
  private async leaveOutBelowCost(): Promise<void> {
    const refusing = this.upstreams.all.filter(({ refusesBelowCost }) => refusesBelowCost);
    if (refusing.length === 0) {
      if (this.compared) this.upstreams.leaveOut(new Set());
      this.compared = undefined;
      return;
    }
    const inForce = await this.prices.inForce();
    const { all } = this.upstreams;
    // The same comes out of the same, but for the rates of costs, which change by the day.
    const { compared } = this;
    if (compared?.inForce === inForce && compared.all === all && performance.now() - compared.at < RATES_MS) return;
    const belowCost = new Set<string>();
    const turns = new Turns();
    for (const list of [undefined, ...inForce.lists])
      for (const { upstream, model } of await textPricesBelowCost(inForce, refusing, list, turns))
        belowCost.add(placeOf(upstream, model, list));
    this.upstreams.leaveOut(belowCost, inForce.lists);
    this.compared = { inForce, all, at: performance.now() };
  }

  private showResting(): void {
    signals.upstreamCoolingDown.reset();
    signals.upstreamCoolingDownForAll.reset();
    for (const upstream of this.upstreams.all) {
      const labels = { upstream: upstream.provider.id };
      signals.upstreamCoolingDown.set(labels, this.circuits.isCooling(upstream) ? 1 : 0);
      signals.upstreamCoolingDownForAll.set(labels, this.circuits.isCoolingForAll(upstream) ? 1 : 0);
    }
  }
}

/** Answering text requests in every style over the upstreams there are. */
@Module({
  imports: [FileSearchModule, LedgerModule, LimitsModule, PricesModule],
  providers: [
    Reservations,
    EmbeddingsRouter,
    EmbeddingsService,
    FileSearch,
    ItemStore,
    LedgerTextBilling,
    SemanticSearch,
    MeteredEmbedder,
    ModelsOnSale,
    PassageEmbedder,
    PassageVectors,
    PromptLogWriter,
    RunningTexts,
    TextCalls,
    TextLifetime,
    TextCircuits,
    TextUpstreamRegistry,
    {
      // Chooses the port: Redis, else Postgres, else (one process for all) memory.
      provide: Cooldowns,
      inject: [PLATFORM],
      useFactory: ({ config, database, isOnlyProcess }: Platform) =>
        createCooldowns(config.queue, database, isOnlyProcess),
    },
    {
      // Chooses the clock, from the settings of the upstreams how long failed ones are asked again, and how processes
      // share where conversations live.
      provide: TextRouter,
      inject: [TextUpstreams, TextCircuits, OPEN_TEXT_UPSTREAMS, TextCalls, PLATFORM],
      useFactory: (
        upstreams: TextUpstreams,
        circuits: TextCircuits,
        { retryBudgetMs, conversationMinutes: minutes }: OpenTextUpstreams,
        calls: TextCalls,
        { sharedNotes }: Platform,
      ) => {
        const conversations =
          minutes > 0 ? new Conversations(systemClock, minutes, sharedNotes('conversation')) : undefined;
        return new TextRouter(upstreams, circuits, systemClock, retryBudgetMs, calls, conversations);
      },
    },
    { provide: TEXT_EMBEDDER, useExisting: MeteredEmbedder },
    {
      // Chooses the clock, the tokenizer, and from the configuration whose URLs an upstream may fetch, and what the gateway
      // runs itself within which bounds.
      provide: TextService,
      inject: [TextRouter, LedgerTextBilling, TextUpstreams, FileSearch, OPEN_TEXT_UPSTREAMS, PLATFORM],
      useFactory: (
        router: TextRouter,
        billing: LedgerTextBilling,
        upstreams: TextUpstreams,
        passages: FileSearch,
        { leaving, tools }: OpenTextUpstreams,
        { fetcher, config }: Platform,
      ) =>
        new TextService({
          router,
          billing,
          upstreams,
          leaving,
          counter: loadTokenCounter,
          clock: systemClock,
          urls: new ForwardedUrls(fetcher, config.media.MEDIA_FETCH_ALLOW),
          hosted: new HostedTools({ router, upstreams, open: tools, fetcher, passages }),
        }),
    },
  ],
  exports: [
    Cooldowns,
    EmbeddingsService,
    FileSearch,
    ModelsOnSale,
    PromptLogWriter,
    RunningTexts,
    TextCalls,
    TextService,
    TextUpstreams,
    ItemStore,
    TextCircuits,
    TextUpstreamRegistry,
  ],
})
export class TextModule {
  static register(providers: OpenTextUpstreams): DynamicModule {
    return {
      module: TextModule,
      // Operators change the upstreams of the same module.
      global: true,
      providers: [
        { provide: OPEN_TEXT_UPSTREAMS, useValue: providers },
        // Empty until the TextUpstreamRegistry has read the file and the table.
        { provide: TextUpstreams, useValue: new TextUpstreams() },
      ],
    };
  }
}
