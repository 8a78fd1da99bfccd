/** The types of events that endpoints can ask for. A test call has a type of its own and always arrives. */
export const WEBHOOK_EVENTS = ['task.completed', 'task.failed', 'task.cancelled', 'balance.low'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The type of a test call. */
export const TEST_EVENT = 'webhook.test';
