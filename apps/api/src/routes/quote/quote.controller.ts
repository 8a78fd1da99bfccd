import { Body, Controller, Header, HttpCode, Post, UseGuards } from '@nestjs/common';
import type { Caller } from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { Route, Routes } from '../../http/route.js';
import { QUOTE } from './quote.openapi.js';
import { Quotes, type QuoteView, type TextQuoteView } from './quotes.js';

/** Prices without running. */
@Controller('v1/quote')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'generate' })
export class QuoteController {
  constructor(private readonly quotes: Quotes) {}

  /** Takes any body of the video and image endpoints and of chat completions, refuses what they refuse, and moves no money. */
  @Post()
  @Route({ operation: QUOTE, cost: 'free', body: 'images' })
  @HttpCode(200)
  @Header('cache-control', 'private')
  quote(@CurrentCaller() caller: Caller, @Body() body: unknown): Promise<QuoteView | TextQuoteView> {
    return this.quotes.isOfText(body) ? this.quotes.ofText(caller, body) : this.quotes.of(caller, body);
  }
}
