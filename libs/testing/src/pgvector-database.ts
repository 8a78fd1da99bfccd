import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Database, DatabaseConfig, loadConfig } from '#platform';
import { PATIENT_WITH_POSTGRES, type TestDatabase } from './test-database.js';

const MIGRATIONS = 'prisma/migrations';

/**
 * A migrated, empty database with pgvector: the real one compiled for this process, because no package brings a server with
 * it. All its clients share one session, so that none waits for a lock of another.
 */
export async function createPgvectorDatabase(): Promise<TestDatabase> {
  // Loaded only here: most suites need no second Postgres.
  const [{ PGlite }, { vector }, { PGLiteSocketServer }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite-pgvector'),
    import('@electric-sql/pglite-socket'),
  ]);
  const postgres = await PGlite.create({ extensions: { vector } });
  for (const { name } of (await readdir(MIGRATIONS, { withFileTypes: true })).filter((entry) => entry.isDirectory())) {
    const script = await readFile(join(MIGRATIONS, name, 'migration.sql'), 'utf8');
    // Nobody else writes meanwhile, and what is sent together is one transaction.
    await postgres.exec(script.replaceAll(/\bindex concurrently\b/gi, 'index'));
  }
  const server = new PGLiteSocketServer({ db: postgres, host: '127.0.0.1', port: 0, maxConnections: 4 });
  await server.start();
  const url = `postgresql://postgres@${server.getServerConn()}/postgres`;
  const environment = { DATABASE_URL: url, ...PATIENT_WITH_POSTGRES, DATABASE_POOL_SIZE: '2' };
  const database = new Database(url, loadConfig(DatabaseConfig, environment));
  const remove = async (): Promise<void> => {
    await database.close();
    await server.stop();
    await postgres.close();
  };
  return { url, environment, database, remove };
}
