import type { OperationText } from '../../http/operation.js';

/** What orchestrators ask. */
export const HEALTH_OPERATIONS = {
  isAlive: {
    id: 'isAlive',
    tag: 'Operations',
    summary: 'Whether the process responds, and its version',
    answer: { type: 'object', properties: { status: { const: 'alive' }, version: { type: 'string' } } },
  },
  isReady: {
    id: 'isReady',
    tag: 'Operations',
    summary: 'Whether the process is ready, part by part',
    answer: {
      type: 'object',
      properties: {
        status: { enum: ['ready', 'degraded', 'not_ready'] },
        reasons: { type: 'array', items: { type: 'string' } },
        parts: { type: 'object' },
      },
    },
    errors: ['unavailable'],
  },
} satisfies Readonly<Record<string, OperationText>>;
