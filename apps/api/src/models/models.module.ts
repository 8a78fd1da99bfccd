import { AccessModule, PriceList, TasksModule } from '#features';
import { Database } from '#platform';
import { Module } from '@nestjs/common';
import { QuoteController } from '../quote/quote.controller.js';
import { ModelsController } from './models.controller.js';

/** What can be generated and what it costs. */
@Module({
  imports: [AccessModule, TasksModule],
  controllers: [ModelsController, QuoteController],
  providers: [{ provide: PriceList, inject: [Database], useFactory: (database: Database) => new PriceList(database) }],
})
export class ModelsModule {}
