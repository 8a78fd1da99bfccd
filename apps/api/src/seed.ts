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
import type { BalanceUnit } from '#contracts';
import { ConfigError, logger, type StatementRunner } from '#platform';
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

/** The first balance of a fresh gateway has not been spent as long as it is alone: it is worth as much in any unit. */
const HAS_ENTRIES = `exists (select from ledger_entry where reference is distinct from 'first-balance')`;
/** $1 the unit. Whatever it was before the first entry of the ledger may still change. */
const KEEP_UNIT = `
insert into balance_unit as b (unit) values ($1)
on conflict (is_only) do update set unit = excluded.unit where b.unit <> excluded.unit and not ${HAS_ENTRIES}
returning ${HAS_ENTRIES} as has_entries`;

/** @throws ConfigError: the entries of the ledger are in another unit than BALANCE_UNIT says. */
export async function expectBalanceUnit(database: StatementRunner, unit: BalanceUnit): Promise<void> {
  const written = await database.query<{ has_entries: boolean }>({ text: KEEP_UNIT, values: [unit] });
  // Entries of a version that did not write the unit: nobody but an operator can know whether it is theirs.
  if (written.rows[0]?.has_entries) logger('start').warn('balance_unit.assumed', { unit });
  const { rows } = await database.query<{ unit: string }>({ text: 'select unit from balance_unit', values: [] });
  const kept = rows[0]?.unit ?? unit;
  if (kept !== unit)
    throw new ConfigError([
      `BALANCE_UNIT is "${unit}", but the balances of this database are in ${kept}: each would be worth something else. Set BALANCE_UNIT=${kept}, or use another database. Where the balances are in ${unit} all the same, run: update balance_unit set unit = '${unit}'`,
    ]);
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
  // SANDBOX_SELLS=true asks for a gateway to try everything with; `npm start` alone does not.
  const tryEverything = config.sales.SANDBOX_SELLS === true;
  const ofVendors = tryEverything ? [] : upstreams.filter(({ protocol }) => protocol !== 'sandbox');
  await seedExamplePrices(database, new Set(ofVendors.flatMap(({ models }) => Object.keys(models))));
}
