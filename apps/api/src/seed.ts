import { AccessModule, type FirstKey, seedExamplePrices, SeedService } from '#features';
import type { Platform } from '#platform';
import type { INestApplicationContext } from '@nestjs/common';

/** Gives a fresh database the example prices, and the first account with the key of GATEWAY_API_KEY or a new one. */
export async function seed(api: INestApplicationContext, { config, database }: Platform): Promise<FirstKey> {
  await seedExamplePrices(database);
  return api.select(AccessModule).get(SeedService).ensureFirstAccount(config.server.GATEWAY_API_KEY);
}
