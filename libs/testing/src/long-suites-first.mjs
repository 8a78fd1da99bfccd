// On a clean clone Jest knows no durations and starts the largest files first. The suites that take longest are small
// files that start processes, and one that starts last keeps the others' workers waiting for it.
import Sequencer from '@jest/test-sequencer';

/** Suites of 40 seconds and more, the longest first. */
const LONG_SUITES = [
  'apps/console/test/pages/every-page',
  'chaos/crashes-on-postgres',
  'tests/processes/process',
  'attacks/attacks',
  'chaos/crashes-on-redis',
  'tests/deployment/clean-end',
  'tests/deployment/replicas',
  'tests/processes/first-start',
  'tests/deployment/backup',
  'tests/outages/refusing-redis',
  'tests/processes/api-processes',
  'tests/outages/silent-postgres',
  'tests/deployment/day-one',
  'tests/faults/s3-silence',
  'fuzz/bodies',
  'tests/faults/aborts',
  'tests/faults/leaving',
  'fuzz/large-bodies',
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
