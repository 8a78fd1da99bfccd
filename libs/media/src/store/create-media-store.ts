import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataFolder } from '#platform';
import { LinkSigner } from './file-link.js';
import { LocalMediaStore } from './local-media-store.js';
import type { MediaStoreConfig } from './media-store-config.js';
import type { MediaStore } from './media-store.js';

const FILE_NAME = 'media-link-secrets';
const SECRET_BYTES = 32;

/**
 * The link secrets of a data folder, newest first, one base64url line each. The first process makes the file, readable
 * by its owner only; every other process of the folder reads the same one, even when several start at once.
 */
async function loadLinkSecrets(dataDirectory: string): Promise<Buffer[]> {
  makeDataFolder(dataDirectory);
  const file = join(dataDirectory, FILE_NAME);
  return (await readSecrets(file)) ?? createSecrets(dataDirectory, file);
}

/**
 * A link secret that every replica with the same S3 credentials finds by itself. Changing the credentials invalidates
 * permanent links, so operators that rotate credentials set `MEDIA_LINK_SECRETS`.
 */
function deriveLinkSecret(secretAccessKey: string): Buffer {
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

/** What the store needs besides its own configuration. */
interface MediaStoreSurroundings {
  /** The data folder; the local form keeps files in its `media` folder, both link secrets beside it. */
  readonly dataDirectory: string;
  /** Where clients reach this gateway. A function when the port is known only after the start. */
  readonly publicBaseUrl: string | (() => string);
  /** Current time in milliseconds; the system clock unless a test says otherwise. */
  readonly now?: () => number;
}

/** Opens the store that the configuration names: a bucket when S3 is set, else a folder. The only place that knows which. */
export async function createMediaStore(
  config: MediaStoreConfig,
  surroundings: MediaStoreSurroundings,
): Promise<MediaStore> {
  const { dataDirectory, publicBaseUrl, now } = surroundings;
  const baseUrl = typeof publicBaseUrl === 'function' ? publicBaseUrl : () => publicBaseUrl;
  const signer = new LinkSigner(await linkSecrets(config, dataDirectory), now);
  if (config.MEDIA_S3_BUCKET === undefined)
    return LocalMediaStore.create({ folder: join(dataDirectory, 'media'), publicBaseUrl: baseUrl, signer, now });
  // Loaded only when used: the S3 client takes a quarter of a second to import.
  const { S3MediaStore } = await import('./s3-media-store.js');
  return new S3MediaStore({ ...s3Settings(config, config.MEDIA_S3_BUCKET), gatewayBaseUrl: baseUrl, signer, now });
}

async function linkSecrets(config: MediaStoreConfig, dataDirectory: string): Promise<Buffer[]> {
  if (config.MEDIA_LINK_SECRETS?.length) return config.MEDIA_LINK_SECRETS.map((secret) => Buffer.from(secret, 'utf8'));
  if (config.MEDIA_S3_SECRET_ACCESS_KEY !== undefined) return [deriveLinkSecret(config.MEDIA_S3_SECRET_ACCESS_KEY)];
  return loadLinkSecrets(dataDirectory);
}

function s3Settings(config: MediaStoreConfig, bucket: string) {
  return {
    bucket,
    endpoint: config.MEDIA_S3_ENDPOINT,
    region: config.MEDIA_S3_REGION,
    accessKeyId: config.MEDIA_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: config.MEDIA_S3_SECRET_ACCESS_KEY ?? '',
    publicBaseUrl: config.MEDIA_S3_PUBLIC_BASE_URL,
  };
}
