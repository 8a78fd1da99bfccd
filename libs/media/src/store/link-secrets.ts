import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataFolder } from '#platform';

const FILE_NAME = 'media-link-secrets';
const SECRET_BYTES = 32;

/**
 * The link secrets of a data folder, newest first, one base64url line each. The first process makes the file, readable
 * by its owner only; every other process of the folder reads the same one, even when several start at once.
 */
export async function loadLinkSecrets(dataDirectory: string): Promise<Buffer[]> {
  makeDataFolder(dataDirectory);
  const file = join(dataDirectory, FILE_NAME);
  return (await readSecrets(file)) ?? createSecrets(dataDirectory, file);
}

/**
 * A link secret that every replica with the same S3 credentials finds by itself. Changing the credentials invalidates
 * permanent links, so operators that rotate credentials set `MEDIA_LINK_SECRETS`.
 */
export function deriveLinkSecret(secretAccessKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretAccessKey, '', 'gateway file links', SECRET_BYTES));
}

async function readSecrets(file: string): Promise<Buffer[] | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text?.split('\n').flatMap((line) => (line.trim() ? [Buffer.from(line.trim(), 'base64url')] : []));
}

/** Writes aside and links into place: the link fails when another process was first, and then its file counts. */
async function createSecrets(dataDirectory: string, file: string): Promise<Buffer[]> {
  const draft = join(dataDirectory, `.${FILE_NAME}-${randomUUID()}`);
  await writeFile(draft, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const secrets = await readSecrets(file);
  if (!secrets?.length) throw new Error(`${file} holds no link secret`);
  return secrets;
}
