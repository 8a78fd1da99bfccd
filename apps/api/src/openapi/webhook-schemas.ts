import type { JsonObject } from '#contracts';

const TIME: JsonObject = { type: 'integer', description: 'Unix seconds.' };

/** Endpoints and deliveries of webhooks, by name. */
export const WEBHOOK_SCHEMAS: JsonObject = {
  WebhookEndpoint: {
    type: 'object',
    required: ['id', 'object', 'url', 'event_types', 'created'],
    properties: {
      id: { type: 'string' },
      object: { const: 'webhook_endpoint' },
      url: { type: 'string' },
      event_types: { type: 'array', items: { type: 'string' } },
      created: TIME,
      secret: { type: 'string', description: 'Shown once, when it was made.' },
    },
  },
  WebhookDelivery: {
    type: 'object',
    required: ['id', 'object', 'status'],
    properties: {
      id: { type: 'string', description: 'The `webhook-id` of every attempt.' },
      object: { const: 'webhook_delivery' },
      event_type: { enum: ['task.completed', 'task.failed', 'task.cancelled', 'balance.low', 'webhook.test'] },
      task_id: { type: ['string', 'null'] },
      endpoint_id: { type: ['string', 'null'] },
      url: { type: 'string' },
      status: { enum: ['pending', 'delivered', 'failed'] },
      attempts: { type: 'integer' },
      last_status: { type: ['integer', 'null'], description: 'HTTP status of the last answer.' },
      last_error: { type: ['string', 'null'] },
      created: TIME,
      next_attempt: { type: ['integer', 'null'], description: 'Unix seconds.' },
      log: { type: 'array', items: { type: 'object' }, description: 'Every attempt, when one delivery is read.' },
    },
  },
};
