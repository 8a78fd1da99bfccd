import type { CrashPoint } from '#platform';
import type { RepeatStart, Role } from './chaos.config.js';
import type { Backend, Services } from './services.js';

/** One row of the crash matrix. */
export interface Scenario {
  readonly name: string;
  /** Where processes of the role kill themselves, at every passage; without it any process is killed at any moment. */
  readonly crashAt?: { readonly point: CrashPoint; readonly role: Role };
  /** What the vendor does with a repeated order. */
  readonly repeatStart: RepeatStart;
  /** How likely each answer of the vendor is to go wrong. */
  readonly vendorFaults: number;
  /** How far the clocks of the second worker and of the API are off, in milliseconds. */
  readonly clockSkewMs?: number;
  /** What befalls the servers, about once a second. */
  readonly disturb?: (services: Services) => Promise<void>;
  /** The only backend it makes sense on. */
  readonly only?: Backend;
}

const at = (role: Role, point: CrashPoint, repeatStart: RepeatStart, vendorFaults = 0): Scenario => ({
  name: point,
  crashAt: { point, role },
  repeatStart,
  vendorFaults,
});

const WORKER_POINTS = [
  'after-claim',
  'after-running',
  'after-poll-claim',
  'after-vendor-check',
  'after-storing',
  'after-file-copied',
  'after-settled',
] as const;
const KINDS = ['idempotent', 'lookup', 'unknown'] as const;
const anyMoment = { repeatStart: 'idempotent', vendorFaults: 0 } as const;

/** Every crash point, every kind of vendor, and every fault of what the gateway stands on. */
export const SCENARIOS: readonly Scenario[] = [
  at('api', 'before-task-written', 'idempotent'),
  at('api', 'after-task-written', 'idempotent'),
  ...WORKER_POINTS.map((point) => at('image-worker', point, 'idempotent')),
  ...KINDS.map((kind) => at('image-worker', 'after-start-intent', kind)),
  ...KINDS.map((kind) => at('image-worker', 'after-vendor-start', kind)),
  at('image-worker', 'after-vendor-start', 'lookup', 0.2),
  at('maintenance-worker', 'after-delivery-claim', 'idempotent'),
  at('maintenance-worker', 'after-delivery-sent', 'idempotent'),
  { name: 'any moment', ...anyMoment },
  ...KINDS.map((repeatStart) => ({ name: 'any moment', repeatStart, vendorFaults: 0.2 })),
  { name: 'any moment, clocks 10 min off', ...anyMoment, repeatStart: 'lookup', clockSkewMs: 600_000 },
  { name: 'any moment, Postgres crashes', ...anyMoment, disturb: (services) => services.crashPostgres() },
  { name: 'any moment, connections cut', ...anyMoment, disturb: (services) => services.cutConnections() },
  { name: 'any moment, media folder lost', ...anyMoment, disturb: (services) => services.losePictureFolder() },
  { name: 'any moment, Redis crashes', ...anyMoment, only: 'redis', disturb: (services) => services.crashRedis() },
  { name: 'any moment, Redis flushed', ...anyMoment, only: 'redis', disturb: (services) => services.flushRedis() },
  { name: 'any moment, Redis slow', ...anyMoment, only: 'redis', disturb: (services) => services.slowRedis() },
];
