import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { PriceBook } from './price-book.js';
import { TextPrices } from './text-prices.js';

/** What things cost. */
@Module({
  providers: [
    { provide: PriceBook, inject: [Database], useFactory: (database: Database) => new PriceBook(database) },
    { provide: TextPrices, inject: [PriceBook], useFactory: (prices: PriceBook) => new TextPrices(prices) },
  ],
  exports: [PriceBook, TextPrices],
})
export class PricesModule {}
