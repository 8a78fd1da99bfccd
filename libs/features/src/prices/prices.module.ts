import { Database } from '#platform';
import { Module } from '@nestjs/common';
import { PriceBook } from './price-book.js';

/** What things cost. */
@Module({
  providers: [{ provide: PriceBook, inject: [Database], useFactory: (database: Database) => new PriceBook(database) }],
  exports: [PriceBook],
})
export class PricesModule {}
