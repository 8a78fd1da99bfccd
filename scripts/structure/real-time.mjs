// Specs and chaos scenarios that let real time pass, because that time is what they prove or play. Everything else waits
// for a condition (`eventually` of #testing) or moves a clock (`ControllableClock`).

/** @returns an exception: how many waits a file has, and why no condition can stand in their place. */
const waits = (count, because) => ({ count, because });

export const REAL_TIME = {
  'apps/api/src/http/hostile-clients.spec.ts': waits(1, 'a client leaves after a second if it is not sent away'),
  'tests/deployment/replicas.spec.ts': waits(2, 'the pace of customers and of a balancer'),
  'tests/processes/upstreams.spec.ts': waits(
    1,
    'within a second both replicas know, and not before its end it is over',
  ),
  'tests/processes/worker-crash.spec.ts': waits(1, 'the moments at which a worker is killed'),
  'chaos/vendor/chaos-vendor.ts': waits(2, 'a vendor whose call lasts, and one that stalls'),
  'chaos/fleet.ts': waits(1, 'a process that cannot start is not started in a busy loop'),
  'chaos/load.ts': waits(1, 'the pace of customers'),
  'chaos/outage.ts': waits(2, 'the pace of customers, whose costs are measured'),
  'chaos/run-scenario.ts': waits(2, 'the pace of crashes, and of a drain that reports what it could not end'),
  'chaos/services.ts': waits(4, 'how long servers, networks and folders are away'),
  'libs/features/src/billing/ledger/reservations.spec.ts': waits(6, 'no reservation is given or taken back meanwhile'),
  'libs/features/src/tasks/poll/waiting/upstream-poller.spec.ts': waits(1, 'a vendor is not asked meanwhile'),
  'libs/features/src/tasks/run/task-worker.spec.ts': waits(1, 'others could begin beside a start that takes a while'),
  'libs/media/src/references/check-references.spec.ts': waits(1, 'a fifth file could be asked for while four are open'),
  'libs/media/src/store/copy-to-store.spec.ts': waits(1, 'a host that breaks off after a part arrived'),
  'libs/media/src/store/s3-media-store.spec.ts': waits(1, 'the bucket itself lets a link expire after a second'),
  'libs/platform/src/batching/batcher.spec.ts': waits(1, 'an item waits for longer than its caller does'),
  'libs/platform/src/clock/time-limit.spec.ts': waits(1, 'a signal is not aborted when its time is over'),
  'libs/platform/src/cooldowns/waiting/cooldowns.spec.ts': waits(1, 'replicas learn within a second, or not at all'),
  'libs/platform/src/database/waiting/silent-database.spec.ts': waits(1, 'how long the database is away'),
  'libs/platform/src/safe-fetch/safe-fetcher.spec.ts': waits(
    2,
    'a server that cuts and a caller that stops in the middle',
  ),
  'libs/runtime/src/queue/waiting/lost-start.spec.ts': waits(
    1,
    'Postgres stays away for longer than one try to connect',
  ),
  'libs/runtime/src/queue/task-notifier.spec.ts': waits(
    3,
    'a queue that is idle for a while, and work that takes a while',
  ),
};
