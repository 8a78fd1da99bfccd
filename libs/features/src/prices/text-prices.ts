import type { PriceBook } from './price-book.js';
import { TextTariff, TOKEN_UNITS, type TokenPrices } from './text-tariff.js';

/** The prices of text models. */
export class TextPrices {
  constructor(private readonly prices: PriceBook) {}

  /**
   * The prices of a model as they stand now. Take them once for each request: it is charged at the prices in force when
   * it came, whatever changes while it runs.
   *
   * @throws GatewayError `unavailable`: the model has no price for input or output, so it cannot be sold.
   */
  async tariffOf(model: string): Promise<TextTariff> {
    const found = await Promise.all(
      TOKEN_UNITS.map(async (unit) => [unit, await this.prices.find(model, unit, 'default')]),
    );
    const prices: TokenPrices = {
      ...Object.fromEntries(found.filter(([, price]) => price)),
      input_token: await this.prices.get(model, 'input_token', 'default'),
      output_token: await this.prices.get(model, 'output_token', 'default'),
    };
    return new TextTariff(prices);
  }
}
