import type { Failpoint } from '#runtime';
import type { NetworkFault } from '#testing';
import type { Role } from './assignment.js';
import type { Fleet } from './fleet.js';
import type { Backend, Server, Services, Store } from './services.js';
import type { ChaosVendor } from './vendor/chaos-vendor.js';
import type { UpstreamsUnderLoad } from './vendor/upstreams-under-load.js';
import { VENDOR_KINDS, type VendorKind } from './vendor/vendor-kinds.js';

/** What a scenario happens to. */
export interface Grounds {
  readonly services: Services;
  readonly vendor: ChaosVendor;
  readonly upstreams: UpstreamsUnderLoad;
  readonly fleet: Fleet;
}

/** One row of the crash matrix. */
export interface Scenario {
  /**
   * Where processes kill themselves; or `any moment`: then one chosen by chance is killed twice a second, if no two are away;
   * or `inside start`: then some of the tasks end every process that starts them; or `roll-out`: then none is killed, and all
   * are replaced repeatedly.
   */
  readonly crash: Failpoint | 'any moment' | 'inside start' | 'roll-out';
  /** Whose processes die at that place. */
  readonly roles: readonly Role[];
  /** What else goes wrong. */
  readonly fault: string;
  /** The vendor of the orders. */
  readonly vendor: VendorKind;
  /** After how many seconds tasks end whatever happens, where that is not what the vendor needs. */
  readonly deadlineSeconds?: number;
  /** How likely each answer of the vendor is to go wrong. */
  readonly vendorFaults: number;
  /** How far the clocks of the second image worker and of the APIs are off, in milliseconds. */
  readonly clockSkewMs?: number;
  /** What befalls the servers, every other second. */
  readonly disturb?: (grounds: Grounds) => Promise<void> | void;
  /** The disturbance is an outage: what requests cost meanwhile and how soon all is well after it has limits. */
  readonly isOutage?: true;
  /** It may only run where rules of the network affect nothing else. */
  readonly needsOwnNetwork?: boolean;
  /** The only backend it makes sense on. */
  readonly only?: Backend;
  /** Where files lie; a folder where nothing is said. */
  readonly store?: Store;
}

const WORKERS = ['image-worker', 'video-worker'] as const;
const CALM = { fault: 'none', vendor: 'idempotent', vendorFaults: 0 } as const;
const BAD_VENDOR = { fault: 'a fifth of the vendor’s answers wrong', vendorFaults: 0.2 } as const;
/** Connections of before carry nothing; or new ones neither, for a while. */
const SILENCES = ['half-open', 'black-hole'] as const;
/** Or it refuses them, or takes its time. */
const FAULTS = [...SILENCES, 'refuse', 'slow'] as const;
/** Besides, a media store can stop in the middle of an answer, crawl, or say that it has too much to do. */
const STORE_FAULTS = [...FAULTS, 'stall', 'drip', 'overloaded'] as const;
/** The files of a call come by links after it, those of the other stand in the replies to checks, which put them into the store. */
const OTHER_BRINGERS = ['call', 'inline'] as const;

const WORKER_POINTS = [
  'after-claim',
  'after-running',
  'after-poll-claim',
  'after-vendor-check',
  'after-storing',
  'after-file-copied',
  'after-settled',
] as const;
/** Those on the way of an order whose call answers with the files: nothing is ever asked about it. */
const isOfCalls = (point: Failpoint): boolean =>
  !['after-running', 'after-poll-claim', 'after-vendor-check', 'after-storing'].includes(point);
const CALL_POINTS = WORKER_POINTS.filter(isOfCalls);
/** Where a file is on its way into the store, or just arrived. */
const STORE_POINTS = ['after-vendor-start', 'after-vendor-check', 'after-storing', 'after-file-copied'] as const;

const at = (roles: readonly Role[], crash: Failpoint, changes: Partial<Scenario> = {}): Scenario => ({
  ...CALM,
  crash,
  roles,
  ...changes,
});
const anyMoment = (changes: Partial<Scenario>): Scenario => ({ ...CALM, crash: 'any moment', roles: [], ...changes });
/** Nothing may fail, so that tasks have the time that a machine with other work needs. */
const rollOut = (changes: Partial<Scenario>): Scenario => ({
  ...CALM,
  crash: 'roll-out',
  roles: [],
  deadlineSeconds: 45,
  ...changes,
});

/** What there is besides: where the server is needed only by one of the forms, or another vendor. */
type Form = Partial<Pick<Scenario, 'only' | 'store' | 'vendor'>>;
const IN_S3: Form = { only: 'postgres', store: 's3' };
/** All the servers that gateways of many processes stand on: Postgres, Redis, and files in a bucket. */
const ON_ALL_SERVERS = { only: 'redis', store: 's3' } as const satisfies Form;
const fromNetwork = (name: string, server: Server, fault: NetworkFault, form: Form = {}): Scenario =>
  anyMoment({
    ...form,
    fault: `${name} ${fault}`,
    isOutage: true,
    disturb: ({ services }) => services.disturbNetwork(server, fault),
  });
const withoutPackets = (name: string, server: Server, form: Form = {}): Scenario =>
  anyMoment({
    ...form,
    fault: `packets to ${name} dropped`,
    isOutage: true,
    needsOwnNetwork: true,
    disturb: ({ services }) => services.losePackets(server),
  });

/** Upstreams come and go in the table and in the file, and releases are rolled out, under load. */
const changesOfUpstreams = (form: Form = {}): readonly Scenario[] => [
  anyMoment({
    ...form,
    fault: 'the first upstream comes, is busy, away, unfit, drains and goes',
    disturb: ({ upstreams }) => upstreams.changeTable(),
  }),
  ...(['idempotent', 'call', 'inline'] as const).map((vendor) => rollOut({ ...form, vendor })),
  rollOut({
    ...form,
    fault: 'each release has another upstreams file',
    disturb: ({ upstreams }) => upstreams.changeFile(),
  }),
];
/** What touches files, for every way in which vendors hand them over. */
const onAllServers = (): readonly Scenario[] => [
  ...VENDOR_KINDS.flatMap((vendor) =>
    (vendor === 'call' ? STORE_POINTS.filter(isOfCalls) : STORE_POINTS).map((point) =>
      at(WORKERS, point, { ...ON_ALL_SERVERS, vendor }),
    ),
  ),
  ...VENDOR_KINDS.map((vendor) => anyMoment({ ...BAD_VENDOR, ...ON_ALL_SERVERS, vendor })),
  ...changesOfUpstreams(ON_ALL_SERVERS),
];

/** Every crash point, every kind of vendor, and every fault of what the gateway stands on. */
export const SCENARIOS: readonly Scenario[] = [
  at(['api'], 'before-task-written'),
  at(['api'], 'after-task-written'),
  ...WORKER_POINTS.map((point) => at(WORKERS, point)),
  // With a file sent along, and with videos inside replies.
  ...WORKER_POINTS.map((point) => at(WORKERS, point, { vendor: 'lookup' })),
  ...WORKER_POINTS.map((point) => at(WORKERS, point, { vendor: 'inline' })),
  ...CALL_POINTS.map((point) => at(WORKERS, point, { vendor: 'call' })),
  ...VENDOR_KINDS.map((vendor) => at(WORKERS, 'after-start-intent', { vendor })),
  ...VENDOR_KINDS.map((vendor) => at(WORKERS, 'after-vendor-start', { vendor })),
  at(WORKERS, 'after-vendor-start', { ...BAD_VENDOR, vendor: 'lookup' }),
  at(['maintenance-worker'], 'after-delivery-claim'),
  at(['maintenance-worker'], 'after-delivery-sent'),
  { ...CALM, crash: 'inside start', roles: [], fault: 'some tasks are poison', deadlineSeconds: 150 },
  anyMoment({}),
  ...VENDOR_KINDS.map((vendor) => anyMoment({ ...BAD_VENDOR, vendor })),
  anyMoment({ fault: 'clocks ten minutes off', vendor: 'lookup', clockSkewMs: 600_000 }),
  ...changesOfUpstreams(),
  anyMoment({ fault: 'Postgres crashes', disturb: ({ services }) => services.crashPostgres() }),
  ...(['idempotent', 'call', 'unknown'] as const).map((vendor) =>
    anyMoment({ fault: 'Postgres restarts', vendor, disturb: ({ services }) => services.restartPostgres() }),
  ),
  ...(['idempotent', 'call', 'unknown'] as const).map((vendor) =>
    anyMoment({ fault: 'Postgres only reads', vendor, disturb: ({ services }) => services.onlyReadPostgres() }),
  ),
  anyMoment({ fault: 'connections to Postgres cut', disturb: ({ services }) => services.cutConnections() }),
  anyMoment({ fault: 'media store cannot be written', disturb: ({ services }) => services.loseImageFolder() }),
  anyMoment({ fault: 'Redis crashes', only: 'redis', disturb: ({ services }) => services.crashRedis() }),
  anyMoment({ fault: 'Redis flushed', only: 'redis', disturb: ({ services }) => services.flushRedis() }),
  ...FAULTS.map((fault) => fromNetwork('Postgres', 'postgres', fault)),
  ...OTHER_BRINGERS.map((vendor) => fromNetwork('Postgres', 'postgres', 'black-hole', { vendor })),
  ...FAULTS.map((fault) => fromNetwork('Redis', 'redis', fault, { only: 'redis' })),
  ...STORE_FAULTS.map((fault) => fromNetwork('S3', 's3', fault, IN_S3)),
  ...OTHER_BRINGERS.flatMap((vendor) => FAULTS.map((fault) => fromNetwork('S3', 's3', fault, { ...IN_S3, vendor }))),
  withoutPackets('Postgres', 'postgres'),
  withoutPackets('Redis', 'redis', { only: 'redis' }),
  withoutPackets('S3', 's3', IN_S3),
  anyMoment({ fault: 'Redis silent', only: 'redis', disturb: ({ services }) => services.slowRedis() }),
  ...onAllServers(),
];
