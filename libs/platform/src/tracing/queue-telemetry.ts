import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { isTracing } from './tracing.js';

/** What BullMQ needs to carry a trace from those who send wake-ups to those who listen; undefined when nothing is traced. */
export const queueTelemetry = (): Telemetry | undefined =>
  isTracing() ? new BullMQOtel({ tracerName: 'generation-gateway-queue' }) : undefined;
