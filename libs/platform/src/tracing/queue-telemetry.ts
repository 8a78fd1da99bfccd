import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { isTracing } from './tracing.js';

/** What BullMQ needs to carry a trace from senders of wake-ups to their listeners; undefined when nothing is traced. */
export const queueTelemetry = (): Telemetry | undefined =>
  isTracing() ? new BullMQOtel({ tracerName: 'generation-gateway-queue' }) : undefined;
