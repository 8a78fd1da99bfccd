import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMediaStore, type MediaStore } from '#media';
import { embeddedDatabaseUrl, makeDataFolder, startEmbeddedPostgres, waitForPostgres } from '#platform';
import { type ProcessConfig, readProcessConfig } from '../config/process-config.js';
import { publicBaseUrl } from '../platform.js';
import { BackupError, type BackupManifest, makeBackup } from './backup.js';
import { restoreBackup, type RestoreOptions } from './restore.js';

/** The secrets that an installation without KEY_PEPPER made for itself; without them no API key works any more. */
const SECRETS = 'secrets.json';

/** Backs up what the configuration names: an external or the embedded database, running or not, and its store. */
export function backUp(folder: string, config: ProcessConfig = readProcessConfig()): Promise<BackupManifest> {
  return onPlace(config, async (databaseUrl, store) => {
    const manifest = await makeBackup(databaseUrl, store, folder);
    if (!config.server.KEY_PEPPER) await copyFile(join(config.server.DATA_DIR, SECRETS), join(folder, SECRETS));
    return manifest;
  });
}

/** Restores into what the configuration names. The gateway must not run. */
export function restore(
  folder: string,
  options: RestoreOptions = {},
  config: ProcessConfig = readProcessConfig(),
): Promise<BackupManifest> {
  return onPlace(config, async (databaseUrl, store) => {
    const manifest = await restoreBackup(databaseUrl, store, folder, options);
    if (!config.server.KEY_PEPPER) {
      await copyFile(join(folder, SECRETS), join(config.server.DATA_DIR, SECRETS)).catch((cause: unknown) => {
        throw new BackupError('The backup has no secrets of its own: set KEY_PEPPER as it was when it was made.', {
          cause,
        });
      });
    }
    return manifest;
  });
}

async function onPlace<Result>(
  config: ProcessConfig,
  work: (databaseUrl: string, store: MediaStore) => Promise<Result>,
): Promise<Result> {
  const { DATA_DIR } = config.server;
  const running = config.database.DATABASE_URL ?? embeddedDatabaseUrl(DATA_DIR);
  const started = running === undefined ? await startEmbeddedPostgres(DATA_DIR) : undefined;
  if (running !== undefined) await waitForPostgres(running, config.database.START_WAIT_SECONDS);
  makeDataFolder(DATA_DIR);
  const store = await createMediaStore(config.media, {
    dataDirectory: DATA_DIR,
    publicBaseUrl: () => publicBaseUrl(config),
  });
  try {
    return await work(running ?? started?.url ?? '', store);
  } finally {
    await store.close();
    await started?.stop();
  }
}
