import { Body, Controller, Header, Post, UseGuards } from '@nestjs/common';
import { submissionSchema } from '#contracts';
import type { Caller } from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { envelopeSchema, type OperationText, schemaOf } from '../../http/operation.js';
import { Route, Routes } from '../../http/route.js';
import { Quotes, type QuoteView, type TextQuoteView } from './quotes.js';

/** Pricing a request. */
const QUOTE: OperationText = {
  id: 'quote',
  tag: 'Prices',
  summary: 'Price a request for video, images or text without running it',
  description:
    'Takes the body of any video or image endpoint, or of chat completions, and returns its price, or the error of that endpoint. Of text the input is counted and the longest reply is priced. Costs nothing.',
  body: {
    oneOf: [
      submissionSchema('/v1/videos/generations'),
      submissionSchema('/v1/images/generations'),
      submissionSchema('/v1/images/edits'),
    ],
  },
  answer: envelopeSchema(schemaOf('Quote')),
  errors: ['invalid_parameter', 'missing_parameter', 'model_not_found', 'model_not_allowed'],
};

/** Prices without running. */
@Controller('v1/quote')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'generate' })
export class QuoteController {
  constructor(private readonly quotes: Quotes) {}

  /** Takes any body of the video and image endpoints and of chat completions, refuses what they refuse, and moves no money. */
  @Post()
  @Route({ operation: QUOTE, cost: 'free', body: 'images' })
  @Header('cache-control', 'private')
  quote(@CurrentCaller() caller: Caller, @Body() body: unknown): Promise<QuoteView | TextQuoteView> {
    return this.quotes.isOfText(body) ? this.quotes.ofText(caller, body) : this.quotes.of(caller, body);
  }
}
