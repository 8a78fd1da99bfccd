import { BoundedClient } from '#platform';

const CONNECT_LIMIT_MS = 10_000;
/** The server checks a table's references after its last row, and sends nothing meanwhile. */
const SILENCE_LIMIT_MS = 15 * 60_000;

/** A connection for copies of whole tables, which may take hours as long as something passes. */
export async function connectForCopies(databaseUrl: string, purpose: 'backup' | 'restore'): Promise<BoundedClient> {
  const client = new BoundedClient({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    application_name: `generation-gateway-${purpose}`,
  });
  // Reported by the running statement, if there is one.
  client.on('error', () => undefined);
  await client.connect();
  client.discardWhenIdle(SILENCE_LIMIT_MS);
  return client;
}
