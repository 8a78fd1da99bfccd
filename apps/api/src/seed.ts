import {
  AccessModule,
  applyPricesFile,
  type FilePrice,
  type FirstKey,
  seedExamplePrices,
  SeedService,
} from '#features';
import { type Platform, sandboxSells } from '#platform';
import type { INestApplicationContext } from '@nestjs/common';

/** Gives a fresh database the first account with the key of GATEWAY_API_KEY or a new one. */
export async function seed(api: INestApplicationContext, { config }: Platform): Promise<FirstKey> {
  return api.select(AccessModule).get(SeedService).ensureFirstAccount(config.server.GATEWAY_API_KEY);
}

/**
 * Puts prices into force: those of PRICES_FILE, and the example ones where the sandbox sells and an operator has set
 * nothing. A gateway that sells real models never gets a price that nobody chose.
 *
 * @param fromFile the entries of PRICES_FILE; empty without one.
 */
export async function applyPrices({ config, database }: Platform, fromFile: readonly FilePrice[]): Promise<void> {
  if (fromFile.length > 0) await applyPricesFile(database, fromFile);
  else if (sandboxSells(config)) await seedExamplePrices(database);
}
