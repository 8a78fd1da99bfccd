import { Injectable } from '@nestjs/common';
import { PriceBook, type PricesInForce } from './price-book.js';
import { TOOL_UNITS } from '#contracts';
import { TextTariff, TOKEN_UNITS, type TokenPrices } from './text-tariff.js';

/** The prices of text models. */
@Injectable()
export class TextPrices {
  private list: PricesInForce | undefined;
  /** Of the models that were asked for since `list` was read. */
  private tariffs = new Map<string, TextTariff>();
  /** Of those of them that are sold by their input alone. */
  private inputTariffs = new Map<string, TextTariff>();

  constructor(private readonly prices: PriceBook) {}

  /**
   * The current prices of a model. Take them once for each request: it is charged at the prices in force when
   * it came, whatever changes while it runs.
   *
   * @param isInputOnly true for a model that writes nothing: it needs no price for output.
   * @throws GatewayError `model_not_priced`: the model has no price for input or output, so it cannot be sold.
   */
  tariffOf(model: string, isInputOnly = false): TextTariff | Promise<TextTariff> {
    const known = this.prices.known === this.list ? this.tariffsOf(isInputOnly).get(model) : undefined;
    return known ?? this.readTariff(model, isInputOnly);
  }

  private async readTariff(model: string, isInputOnly: boolean): Promise<TextTariff> {
    const list = await this.listWith(model, isInputOnly);
    if (list !== this.list) {
      this.list = list;
      this.tariffs = new Map();
      this.inputTariffs = new Map();
    }
    const tariffs = this.tariffsOf(isInputOnly);
    let tariff = tariffs.get(model);
    if (!tariff) tariffs.set(model, (tariff = tariffIn(list, model, isInputOnly)));
    return tariff;
  }

  private tariffsOf(isInputOnly: boolean): Map<string, TextTariff> {
    return isInputOnly ? this.inputTariffs : this.tariffs;
  }

  /** Read again when it lacks the model. */
  private async listWith(model: string, isInputOnly: boolean): Promise<PricesInForce> {
    const list = await this.prices.inForce();
    const isKnown = list === this.list && this.tariffsOf(isInputOnly).has(model);
    return isKnown || isSold(list, model, isInputOnly) ? list : this.prices.reread();
  }
}

const isSold = (list: PricesInForce, model: string, isInputOnly: boolean): boolean =>
  list.find(model, 'input_token', 'default') !== undefined &&
  (isInputOnly || list.find(model, 'output_token', 'default') !== undefined);

function tariffIn(list: PricesInForce, model: string, isInputOnly: boolean): TextTariff {
  const found = [...TOKEN_UNITS, ...TOOL_UNITS].map((unit) => [unit, list.find(model, unit, 'default')]);
  const prices: TokenPrices = {
    ...Object.fromEntries(found.filter(([, price]) => price)),
    input_token: list.get(model, 'input_token', 'default'),
    output_token: list.get(model, isInputOnly ? 'input_token' : 'output_token', 'default'),
  };
  return new TextTariff(prices);
}
