import { Module } from '@nestjs/common';
import { PriceBook } from './price-book.js';
import { TextPrices } from './text-prices.js';

@Module({ providers: [PriceBook, TextPrices], exports: [PriceBook, TextPrices] })
export class PricesModule {}
