import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerConfig } from './config/server.config.js';
import { makeDataFolder } from './data-folder.js';
import { EmbeddedPostgresError, explainPostgresFailure } from './database/embedded-postgres-error.js';

/** The secrets that only the gateway may know. */
export interface Secrets {
  /** Mixed into the stored hashes of API keys. */
  readonly keyPepper: string;
}

const FILE = 'secrets.json';

/**
 * The secrets of the configuration; what it leaves out is made once and kept in DATA_DIR, readable by its owner only.
 *
 * @throws EmbeddedPostgresError in one line when the folder cannot be used.
 */
export async function loadSecrets({
  KEY_PEPPER,
  DATA_DIR,
}: Pick<ServerConfig, 'KEY_PEPPER' | 'DATA_DIR'>): Promise<Secrets> {
  if (KEY_PEPPER) return { keyPepper: KEY_PEPPER };
  const path = join(DATA_DIR, FILE);
  try {
    makeDataFolder(DATA_DIR);
    return (await readSecrets(path)) ?? (await createSecrets(path));
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw explainPostgresFailure('Opening the secrets', DATA_DIR, String(error));
  }
}

async function readSecrets(path: string): Promise<Secrets | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Secrets;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Written whole under another name and then linked: a crash leaves no half file, and of two processes one wins. */
async function createSecrets(path: string): Promise<Secrets> {
  const secrets: Secrets = { keyPepper: randomBytes(32).toString('base64url') };
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, JSON.stringify(secrets), { mode: 0o600 });
  try {
    await link(draft, path);
    return secrets;
  } catch (error) {
    const theirs = isCode(error, 'EEXIST') ? await readSecrets(path) : undefined;
    if (theirs) return theirs;
    throw error;
  } finally {
    await rm(draft);
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
