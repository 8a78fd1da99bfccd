import { AccessModule, PriceList, TasksModule } from '#features';
import { Database } from '#platform';
import { type DynamicModule, Module } from '@nestjs/common';
import { OpenapiController } from '../openapi/openapi.controller.js';
import { QuoteController } from '../quote/quote.controller.js';
import { ModelsController } from './models.controller.js';

/** What can be generated, what it costs, and how it is called. */
@Module({
  imports: [AccessModule, TasksModule],
  controllers: [ModelsController, QuoteController, OpenapiController],
  providers: [{ provide: PriceList, inject: [Database], useFactory: (database: Database) => new PriceList(database) }],
})
export class ModelsModule {
  /** @param text the module that knows the text models there are. */
  static with(text: DynamicModule): DynamicModule {
    return { module: ModelsModule, imports: [text] };
  }
}
