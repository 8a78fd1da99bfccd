import { collectDefaultMetrics, Registry } from 'prom-client';

/** Every series of this process, those of the runtime (event-loop lag, memory, garbage collection) included. */
export const metricsRegistry = new Registry();

collectDefaultMetrics({ register: metricsRegistry });
