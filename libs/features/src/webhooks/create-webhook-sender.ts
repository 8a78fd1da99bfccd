import type { Platform } from '#runtime';
import { ReadTaskService } from '../tasks/read/read-task.service.js';
import { SigningSecretService } from './signing-secret.service.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookSigners } from './webhook-signers.js';

/** The sender of webhooks for a worker process. */
export function createWebhookSender({ config, database, fetcher, store, sealer, failpoints }: Platform): WebhookSender {
  const tasks = new ReadTaskService(database, store, config.server.BALANCE_UNIT);
  const signers = new WebhookSigners(database, sealer, new SigningSecretService(database, sealer));
  return new WebhookSender(database, fetcher, tasks, signers, failpoints);
}
