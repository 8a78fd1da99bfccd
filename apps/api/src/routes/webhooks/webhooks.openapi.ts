import { envelopeSchema, inQuery, operationsOf, schemaOf } from '../../http/operation.js';

const SECRET = envelopeSchema({ type: 'object', required: ['secret'], properties: { secret: { type: 'string' } } });

/** Webhooks: where they go, what signs them, and what happened to each. */
export const WEBHOOK_OPERATIONS = operationsOf('Webhooks', {
  addWebhookEndpoint: {
    summary: 'Add an endpoint that gets the events of every task of the account',
    description: 'The secret that signs its webhooks is only in this response.',
    body: {
      type: 'object',
      required: ['url'],
      additionalProperties: false,
      properties: {
        url: { type: 'string', description: 'An https address that the gateway can reach from outside.' },
        event_types: { type: 'array', items: { type: 'string' }, description: 'Empty or absent: everything.' },
      },
    },
    answer: envelopeSchema(schemaOf('WebhookEndpoint')),
    errors: ['invalid_parameter', 'missing_parameter', 'unknown_parameter'],
  },
  listWebhookEndpoints: {
    summary: 'List endpoints',
    answer: envelopeSchema({ type: 'array', items: schemaOf('WebhookEndpoint') }),
  },
  removeWebhookEndpoint: {
    summary: 'Remove an endpoint',
    answer: envelopeSchema({ type: 'object', properties: { id: { type: 'string' }, deleted: { const: true } } }),
    errors: ['not_found'],
  },
  rotateWebhookSecret: {
    summary: 'Create a new secret for an endpoint; for a day both sign',
    answer: envelopeSchema(schemaOf('WebhookEndpoint')),
    errors: ['not_found'],
  },
  testWebhookEndpoint: {
    summary: 'Send a test event to an endpoint',
    answer: envelopeSchema({ type: 'object', properties: { delivery_id: { type: 'string' } } }),
    errors: ['not_found', 'rate_limit_exceeded'],
  },
  readSigningSecret: {
    summary: 'The secret that signs webhooks to addresses named in submissions',
    answer: SECRET,
  },
  rotateSigningSecret: {
    summary: 'Create a new signing secret; for a day both sign',
    answer: SECRET,
  },
  listWebhookDeliveries: {
    summary: 'The delivery log, newest first',
    parameters: [
      inQuery('limit', 'Deliveries on a page.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
      inQuery('cursor', 'The `next_cursor` of the page before.', { type: 'string' }),
      inQuery('task_id', 'Only deliveries about this task.', { type: 'string' }),
    ],
    answer: {
      type: 'object',
      required: ['code', 'data', 'has_more', 'next_cursor'],
      properties: {
        code: { const: 200 },
        data: { type: 'array', items: schemaOf('WebhookDelivery') },
        has_more: { type: 'boolean' },
        next_cursor: { type: ['string', 'null'] },
      },
    },
    errors: ['invalid_parameter'],
  },
  readWebhookDelivery: {
    summary: 'A delivery with all its attempts',
    answer: envelopeSchema(schemaOf('WebhookDelivery')),
    errors: ['not_found'],
  },
  resendWebhookDelivery: {
    summary: 'Send a delivery again at once, under the same id',
    answer: envelopeSchema(schemaOf('WebhookDelivery')),
    errors: ['not_found', 'rate_limit_exceeded'],
  },
});
