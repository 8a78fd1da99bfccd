import { Injectable } from '@nestjs/common';
import { notPriced, PriceBook, type PricesInForce } from './price-book.js';
import { TextTariff } from './text-tariff.js';

@Injectable()
export class TextPrices {
  private list: PricesInForce | undefined;
  /** Of the models that were asked for since `list` was read, at the prices of the book. */
  private tariffs = new Map<string, TextTariff>();
  /** The same of others: by the price list of the account, or sold by their input alone. */
  private others = new Map<string, Map<string, TextTariff>>();

  constructor(private readonly prices: PriceBook) {}

  /**
   * The current prices of a model. Take them once for each request: it is charged at the prices in force when
   * it came, whatever changes while it runs.
   *
   * @param priceList the one of the account; undefined: the book.
   * @param isInputOnly true for a model that writes nothing: it needs no price for output.
   * @throws GatewayError `model_not_priced`: the model has no price for input or output, so it cannot be sold.
   */
  tariffOf(model: string, isInputOnly = false, priceList?: string): TextTariff | Promise<TextTariff> {
    const known = this.prices.known === this.list ? this.tariffsOf(isInputOnly, priceList).get(model) : undefined;
    return known ?? this.readTariff(model, isInputOnly, priceList);
  }

  /** The same, or undefined where it cannot be sold. */
  async findTariff(model: string, isInputOnly = false, priceList?: string): Promise<TextTariff | undefined> {
    const tariff = this.tariffIn(await this.prices.inForce(), model, isInputOnly, priceList);
    if (tariff.isSold) return tariff;
    // An operator may just have set what it lacks.
    const again = this.tariffIn(await this.prices.reread(), model, isInputOnly, priceList);
    return again.isSold ? again : undefined;
  }

  private async readTariff(model: string, isInputOnly: boolean, priceList?: string): Promise<TextTariff> {
    const tariff = await this.findTariff(model, isInputOnly, priceList);
    if (tariff) return tariff;
    throw notPriced(model, 'default', isInputOnly ? 'input_token' : 'input_token and output_token');
  }

  private tariffIn(list: PricesInForce, model: string, isInputOnly: boolean, priceList?: string): TextTariff {
    if (list !== this.list) {
      this.list = list;
      this.tariffs = new Map();
      this.others = new Map();
    }
    const tariffs = this.tariffsOf(isInputOnly, priceList);
    const known = tariffs.get(model);
    const tariff = known ?? new TextTariff(list.ofModel(model, priceList), isInputOnly);
    // Names that nobody sells are not kept.
    if (tariff.isSold) tariffs.set(model, tariff);
    return tariff;
  }

  private tariffsOf(isInputOnly: boolean, priceList: string | undefined): Map<string, TextTariff> {
    if (!isInputOnly && priceList === undefined) return this.tariffs;
    const key = `${isInputOnly ? 'input' : 'all'}|${priceList ?? ''}`;
    let tariffs = this.others.get(key);
    if (!tariffs) this.others.set(key, (tariffs = new Map()));
    return tariffs;
  }
}
