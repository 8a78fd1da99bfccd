import type { Pool } from 'pg';
import type { Prisma, PrismaClient } from './generated/client.js';

/** The models of prisma/schema.prisma with their types: rows in camelCase, `bigint` for int8, `Date` for timestamptz. */
export type Models = PrismaClient;

/** The models inside a transaction. */
export type ModelTransaction = Prisma.TransactionClient;

/**
 * How long one transaction of the models may take in all, in milliseconds. Each statement in it ends within the limit of
 * the pool; this bounds how many of them a slow server can string together.
 */
const TRANSACTION_LIMIT_MS = 10_000;

/**
 * Opens the model client on a pool whose connections it shares. Loaded when it is first asked for, because its code and
 * its query compiler cost some 70 MB and a part of a second, which a process that only runs statements need not pay.
 */
export async function openModels(pool: Pool): Promise<Models> {
  const [{ PrismaPg }, { PrismaClient: Client }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('./generated/client.js'),
  ]);
  return new Client({
    adapter: new PrismaPg(pool),
    transactionOptions: { maxWait: TRANSACTION_LIMIT_MS, timeout: TRANSACTION_LIMIT_MS },
  });
}
