import type { INestApplicationContext } from '@nestjs/common';
import {
  AccessModule,
  applyPricesFile,
  consoleLinkOf,
  type FirstKey,
  OneTimeLinks,
  type PricesOfFile,
  seedExamplePrices,
  SeedService,
  SessionsModule,
} from '#features';
import type { UpstreamEntry } from '#providers';
import { type Platform, type ProcessConfig, sandboxSells } from '#runtime';

/** What an upstream says of the models it serves. */
type MadeByVendor = Pick<UpstreamEntry, 'protocol' | 'models'>;

/** Gives a fresh database the first account with the key of GATEWAY_API_KEY or a new one. */
export async function seed(api: INestApplicationContext, { config }: Platform): Promise<FirstKey> {
  return api.select(AccessModule).get(SeedService).ensureFirstAccount(config.server.GATEWAY_API_KEY);
}

/** Where the owner of a fresh gateway is signed in, once, within 15 minutes. */
export async function consoleLink(api: INestApplicationContext, baseUrl: string): Promise<string> {
  const code = await api.select(SessionsModule).get(OneTimeLinks).createForFirstUser();
  return consoleLinkOf(baseUrl, code);
}

/**
 * Puts prices into force: those of PRICES_FILE, and the example ones where the sandbox sells and an operator has set
 * nothing. A gateway that sells real models never gets a price that the operator did not choose.
 *
 * @param fromFile what PRICES_FILE holds; undefined without one.
 * @param text the upstreams of UPSTREAMS_FILE, whose models get no example price.
 */
export async function applyPrices(
  { config, database }: Pick<Platform, 'database'> & { readonly config: Pick<ProcessConfig, 'sales' | 'database'> },
  fromFile?: PricesOfFile,
  { fromFile: upstreams = [] }: { readonly fromFile?: readonly MadeByVendor[] | undefined } = {},
): Promise<void> {
  if (fromFile) return applyPricesFile(database, fromFile);
  if (!sandboxSells(config)) return;
  // SANDBOX_BILLING_ENABLED=true asks for a gateway to try everything with; `npm start` alone does not.
  const tryEverything = config.sales.SANDBOX_BILLING_ENABLED === true;
  const ofVendors = tryEverything ? [] : upstreams.filter(({ protocol }) => protocol !== 'sandbox');
  await seedExamplePrices(database, new Set(ofVendors.flatMap(({ models }) => Object.keys(models))));
}
