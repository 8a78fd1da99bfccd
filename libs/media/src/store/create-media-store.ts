import { join } from 'node:path';
import { deriveLinkSecret, loadLinkSecrets } from './link-secrets.js';
import { LinkSigner } from './link-signer.js';
import { LocalMediaStore } from './local-media-store.js';
import type { MediaStoreConfig } from './media-store-config.js';
import type { MediaStore } from './media-store.js';

/** What the store needs besides its own configuration. */
export interface MediaStoreSurroundings {
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
