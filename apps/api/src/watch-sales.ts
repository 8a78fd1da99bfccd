import type { INestApplicationContext } from '@nestjs/common';
import { familyOf } from '#contracts';
import { belowCostText, ModelsOnSale, PricesBelowCost } from '#features';
import { logger, signals } from '#platform';
import { type Platform } from '#runtime';

const log = logger('sales');

/** How many names fit a line that people read. */
const NAMED_MAX = 10;

/** The first of them by name, the others by number. */
function named(models: readonly string[]): string {
  const more = models.length > NAMED_MAX ? ` and ${models.length - NAMED_MAX} more` : '';
  return models.slice(0, NAMED_MAX).join(', ') + more;
}

/**
 * Tells at the start, by `/readyz` and by metrics what an operator would otherwise learn from customers: models that
 * cannot be sold for want of a price, and a production gateway that sells what no real model made.
 */
export async function watchSales(api: INestApplicationContext, { config, health, metrics }: Platform): Promise<void> {
  const onSale = api.get(ModelsOnSale, { strict: false });
  const belowCost = api.get(PricesBelowCost, { strict: false });
  const sandboxReason = (): string | null =>
    config.database.DATABASE_URL !== undefined && onSale.sandboxSells
      ? 'what the built-in sandbox makes is sold to customers (SANDBOX_BILLING_ENABLED is true)'
      : null;
  const priceReason = async (): Promise<string | null> => {
    const [unpriced, examples] = [await onSale.withoutPrice(), await onSale.atExamplePrices()];
    const reasons = [
      unpriced.length > 0 && `${unpriced.length} model(s) on sale have no price in force: ${named(unpriced)}`,
      examples.length > 0 &&
        `${examples.length} model(s) of upstreams are sold at example prices that no operator has set: ${named(examples)}`,
    ];
    return reasons.filter(Boolean).join('; ') || null;
  };
  health.add(
    { part: 'prices', isNeeded: false, check: priceReason },
    { part: 'sandbox', isNeeded: false, check: () => Promise.resolve(sandboxReason()) },
  );
  metrics.add({
    name: 'sales',
    collect: async () => {
      signals.sandboxSelling.set(sandboxReason() === null ? 0 : 1);
      const [unpriced, examples] = [await onSale.withoutPrice(), await onSale.atExamplePrices()];
      signals.modelsWithoutPrice.set(unpriced.length + examples.length);
      await showPricesBelowCost(belowCost);
    },
  });
  for (const reason of [await priceReason(), sandboxReason()])
    if (reason !== null) log.warn('sales.degraded', { reason });
  await warnOfCosts(belowCost);
}

async function showPricesBelowCost(belowCost: PricesBelowCost): Promise<void> {
  const found = await belowCost.all();
  signals.mediaPriceBelowCost.reset();
  signals.priceBelowCost.reset();
  for (const { upstream, model } of found) {
    signals.priceBelowCost.set({ model, upstream }, 1);
    if (familyOf(model)) signals.mediaPriceBelowCost.set({ upstream, model }, 1);
  }
}

async function warnOfCosts(belowCost: PricesBelowCost): Promise<void> {
  const found = await belowCost.all();
  const reason = named(found.map(belowCostText));
  if (found.length > 0) log.warn('sales.price_below_cost', { reason });
  for (const { upstream, unit } of belowCost.unvalued()) log.warn('sales.cost_without_rate', { upstream, unit });
}
