import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { Database, DatabaseConfig, loadConfig } from '#platform';
import { databaseUrl, TEMPLATE_DATABASE, TestServicesConfig } from './test-services.js';

/**
 * Waits for Postgres that even a machine under heavy load does not reach: a test that is not about a silent database must
 * not see one where there is only a slow processor. As variables of a process.
 */
export const PATIENT_WITH_POSTGRES = {
  DATABASE_ANSWER_TIMEOUT_MS: '30000',
  DATABASE_CONNECT_TIMEOUT_SECONDS: '30',
} as const;

/** A migrated, empty database of one spec file's own, on the real server of the test run. */
export interface TestDatabase {
  readonly url: string;
  /** What a process needs to use it, with patience. */
  readonly environment: Readonly<Record<string, string>>;
  readonly database: Database;
  /** Closes `database` and removes everything. Call it in `afterAll`. */
  readonly remove: () => Promise<void>;
}

/** Copies the migrated template, file by file, which takes some 30 milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY FILE_COPY`);
  const url = databaseUrl(serverUrl(), name);
  const environment = { DATABASE_URL: url, ...PATIENT_WITH_POSTGRES };
  const database = new Database(url, loadConfig(DatabaseConfig, { ...environment, DATABASE_POOL_SIZE: '5' }));
  const remove = async (): Promise<void> => {
    await database.close();
    await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
  };
  return { url, environment, database, remove };
}

const serverUrl = (): string => loadConfig(TestServicesConfig).TEST_DATABASE_URL;

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
