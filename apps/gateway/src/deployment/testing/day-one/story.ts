import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskView } from '#contracts';
import { type S3Server, startS3Server, type TestDatabase, uniqueRedisPrefix } from '#testing';
import { FakeTextVendor } from '../../../testing/text-vendor/fake-text-vendor.js';
import { Client } from './client.js';
import { createEmptyDatabase } from './empty-database.js';
import { Installation, type Launch } from './installation.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** The secrets that an operator makes once and keeps apart from the backup. */
const SECRETS = {
  KEY_PEPPER: 'the-pepper-of-the-first-day',
  ADMIN_TOKEN: 'the-admin-token-of-the-first-day',
  OPS_VIEWER_TOKEN: 'the-viewer-token-of-the-first-day',
};

/** Servers that stand before the gateway comes: a database, a bucket, a Redis. */
export interface Place {
  readonly database: TestDatabase;
  readonly store: S3Server;
  readonly installation: Installation;
}

/** What the steps of the first day know of each other. */
export interface Story {
  readonly redisUrl: string;
  readonly launch: Launch;
  vendor: FakeTextVendor;
  receiver: WebhookReceiver;
  place: Place;
  restored: Place;
  admin: Client;
  /** The holder of the first key. */
  customer: Client;
  accountId: string;
  keyId: string;
  webhookSecret: string;
  /** Where the backup goes; removed at the end. */
  readonly folder: string;
  picture: TaskView;
  film: TaskView;
  /** Decimal text of the quote for the picture. */
  quoted: string;
}

/** Opens an empty place for an installation; what it is set to is what the compose file sets. */
export async function openPlace({ redisUrl, launch, receiver }: Story): Promise<Place> {
  const [database, store] = await Promise.all([createEmptyDatabase(), startS3Server()]);
  const installation = await Installation.with(
    {
      ...SECRETS,
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '4',
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: uniqueRedisPrefix(),
      MEDIA_S3_ENDPOINT: store.endpoint,
      MEDIA_S3_REGION: 'us-east-1',
      MEDIA_S3_BUCKET: store.bucket,
      MEDIA_S3_ACCESS_KEY_ID: store.accessKeyId,
      MEDIA_S3_SECRET_ACCESS_KEY: store.secretAccessKey,
      // The customer's server of the test stands at an address that is not public.
      MEDIA_FETCH_ALLOW: receiver.address,
      // The pictures and films of this day are the sandbox's; a shop would name a vendor instead.
      SANDBOX_SELLS: 'true',
      SANDBOX_IMAGE_MS: '50',
      SANDBOX_VIDEO_MS: '50',
      LOG_LEVEL: 'warn',
    },
    launch,
  );
  return { database, store, installation };
}

export const adminOf = ({ installation }: Place): Client => new Client(installation.url, SECRETS.ADMIN_TOKEN);

/** Opens what the steps need from outside. */
export async function openStory(redisUrl: string, launch: Launch): Promise<Story> {
  const [vendor, receiver] = await Promise.all([FakeTextVendor.start(), WebhookReceiver.start()]);
  const folder = await mkdtemp(join(tmpdir(), 'gateway-day-one-'));
  return { redisUrl, launch, vendor, receiver, folder } as Story;
}

export async function closeStory({ vendor, receiver, place, restored, folder }: Story): Promise<void> {
  for (const { database, store, installation } of [place, restored].filter((opened): opened is Place => !!opened)) {
    installation.kill();
    await Promise.all([database.remove(), store.close()]);
  }
  await Promise.all([vendor.stop(), receiver.stop(), rm(folder, { recursive: true, force: true })]);
}

/** A decimal text with six places in millionths. */
export const micros = (amount: unknown): bigint => BigInt(String(amount).replace('.', ''));

/** One step of the day; steps build on each other, in their order. */
export type Step = (name: string, take: () => Promise<void>) => unknown;

export const PICTURE = { model: 'eta-image-2.0', prompt: 'a lighthouse at dusk', size: '1:1', resolution: '1K' };
export const FILM = {
  model: 'beta-2.5-preview',
  prompt: 'waves against a lighthouse',
  resolution: '480p',
  size: '16:9',
  duration: 5,
};
