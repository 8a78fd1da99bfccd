// On a clean clone Jest knows no durations and starts the largest files first. The suites that take longest are small
// files that start processes, and one that starts last keeps the others' workers waiting for it.
import Sequencer from '@jest/test-sequencer';

/** Suites of 30 seconds and more, roughly the longest first; those that wait among those that work. */
const LONG_SUITES = [
  'apps/console/test/pages/every-page',
  'chaos/crashes-on-postgres',
  'tests/processes/process',
  'attacks/attacks',
  'tests/deployment/backup',
  'tests/processes/first-start',
  'tests/faults/strange-replies',
  'tests/processes/api-processes',
  'tests/deployment/replicas',
  'tests/deployment/clean-end',
  'chaos/crashes-on-redis',
  'tests/deployment/day-one',
  'fuzz/bodies',
  'tests/outages/refusing-redis',
  'tests/deployment/upgrade',
  'tests/faults/hostile-files',
  'tests/outages/silent-postgres',
  'tests/faults/upstream-faults',
  'tests/outages/full-postgres',
  'tests/deployment/api-guide',
  'tests/faults/s3-silence',
  'tests/deployment/image',
  'tests/faults/hostile-neighbour',
  'fuzz/large-bodies',
  'tests/processes/worker-crash',
  'tests/faults/aborts',
  'tests/faults/leaving',
  'chaos/texts',
];

const rank = ({ path }) => {
  const place = LONG_SUITES.findIndex(
    (suite) => path.endsWith(`/${suite}.spec.ts`) || path.endsWith(`/${suite}.browser.spec.ts`),
  );
  return place === -1 ? LONG_SUITES.length : place;
};

/** Jest's own order (failed, then slow, then large files), after the suites that are known to take longest. */
export default class LongSuitesFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rank(one) - rank(other));
  }
}
