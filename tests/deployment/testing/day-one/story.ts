import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskView } from '#contracts';
import { startS3Server, uniqueRedisPrefix } from '#testing';
import { FakeTextVendor } from '../../../harness/text-vendor/fake-text-vendor.js';
import { Client } from './client.js';
import { createEmptyDatabase } from './empty-database.js';
import { Installation } from './installation.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** The secrets that an operator makes once and keeps apart from the backup. */
const SECRETS = {
  KEY_PEPPER: 'the-pepper-of-the-first-day',
  ADMIN_TOKEN: 'the-admin-token-of-the-first-day',
  OPS_VIEWER_TOKEN: 'the-viewer-token-of-the-first-day',
};

/** The list of prices in the operator's folder. */
export const PRICES_FILE = 'prices.yaml';

/** One place where the gateway is installed, with the servers that stood there before it came. */
export interface Place {
  readonly installation: Installation;
  /** Where operators reach it: the API itself, or the address beside the customers' of a load balancer. */
  readonly operatorUrl: string;
  readonly adminToken: string;
  /** The names of the accounts that the first start makes. */
  readonly firstAccounts: readonly string[];
  /** Ends what is left of it. */
  close(): Promise<unknown>;
}

/** What is outside of an installation, and how one is made. */
export interface Surroundings {
  /** Makes an empty place: a database and a bucket in which nothing was ever made. */
  openPlace(receiver: WebhookReceiver): Promise<Place>;
  /** A folder of the operator, and where the processes of the gateway see it. */
  readonly folder: string;
  readonly folderInside: string;
}

/** The state that the steps of the first day share. */
export interface Story extends Surroundings {
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
  image: TaskView;
  video: TaskView;
  /** Decimal text of the quote for the image. */
  quoted: string;
}

/** What an operator sets besides the addresses of servers. */
export const settingsFor = (receiver: WebhookReceiver, folderInside: string): Readonly<Record<string, string>> => ({
  // The customer's server of the test stands at an address that is not public.
  MEDIA_FETCH_ALLOW: receiver.address,
  // The images and videos of this day are the sandbox's; a shop would name a vendor instead.
  SANDBOX_BILLING_ENABLED: 'true',
  PRICES_FILE: join(folderInside, PRICES_FILE),
  SANDBOX_IMAGE_MS: '50',
  SANDBOX_VIDEO_MS: '50',
  LOG_LEVEL: 'warn',
});

/** Places on this machine that run from the clone; their settings are those that the compose file makes. */
export async function cloneSurroundings(redisUrl: string): Promise<Surroundings> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-day-one-'));
  return { folder, folderInside: folder, openPlace: (receiver) => openClonePlace(redisUrl, receiver, folder) };
}

async function openClonePlace(redisUrl: string, receiver: WebhookReceiver, folder: string): Promise<Place> {
  const [database, store] = await Promise.all([createEmptyDatabase(), startS3Server()]);
  const installation = await Installation.with({
    ...SECRETS,
    ...database.environment,
    DATABASE_POOL_SIZE: '4',
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: uniqueRedisPrefix(),
    MEDIA_S3_ENDPOINT: store.endpoint,
    MEDIA_S3_REGION: 'us-east-1',
    MEDIA_S3_BUCKET: store.bucket,
    MEDIA_S3_ACCESS_KEY_ID: store.accessKeyId,
    MEDIA_S3_SECRET_ACCESS_KEY: store.secretAccessKey,
    ...settingsFor(receiver, folder),
  });
  return {
    installation,
    operatorUrl: installation.url,
    adminToken: SECRETS.ADMIN_TOKEN,
    firstAccounts: [],
    close: () => {
      installation.kill();
      return Promise.all([database.remove(), store.close()]);
    },
  };
}

export const adminOf = ({ operatorUrl, adminToken }: Place): Client => new Client(operatorUrl, adminToken);

/** Opens what the steps need from outside. */
export async function openStory(surroundings: Surroundings): Promise<Story> {
  const [vendor, receiver] = await Promise.all([FakeTextVendor.start(), WebhookReceiver.start()]);
  return { ...surroundings, vendor, receiver } as Story;
}

export async function closeStory({ vendor, receiver, place, restored, folder }: Story): Promise<void> {
  for (const opened of [place, restored]) await opened?.close();
  await Promise.all([vendor.stop(), receiver.stop(), rm(folder, { recursive: true, force: true })]);
}

/** A decimal text with six places in millionths. */
export const micros = (amount: unknown): bigint => BigInt(String(amount).replace('.', ''));

/** One step of the day; steps build on each other, in their order. */
export type Step = (name: string, take: () => Promise<void>) => unknown;

export const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse at dusk', size: '1:1', resolution: '1K' };
export const VIDEO = {
  model: 'beta-2.5-preview',
  prompt: 'waves against a lighthouse',
  resolution: '480p',
  size: '16:9',
  duration: 5,
};
