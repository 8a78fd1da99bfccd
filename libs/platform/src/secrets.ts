import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerConfig } from './config/server.config.js';

/** What the gateway must know and nobody else may. */
export interface Secrets {
  /** Mixed into the stored hashes of API keys. */
  readonly keyPepper: string;
}

const FILE = 'secrets.json';

/** The secrets of the configuration; what it leaves out is made once and kept in DATA_DIR, readable by its owner only. */
export async function loadSecrets(server: Pick<ServerConfig, 'KEY_PEPPER' | 'DATA_DIR'>): Promise<Secrets> {
  if (server.KEY_PEPPER) return { keyPepper: server.KEY_PEPPER };
  await mkdir(server.DATA_DIR, { recursive: true });
  const path = join(server.DATA_DIR, FILE);
  return (await readSecrets(path)) ?? (await writeSecrets(path));
}

async function readSecrets(path: string): Promise<Secrets | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Secrets;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Creates the file or, when another process was quicker, reads theirs. */
async function writeSecrets(path: string): Promise<Secrets> {
  const secrets: Secrets = { keyPepper: randomBytes(32).toString('base64url') };
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(JSON.stringify(secrets));
    await file.close();
    return secrets;
  } catch (error) {
    const theirs = await readSecrets(path);
    if (theirs) return theirs;
    throw error;
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
