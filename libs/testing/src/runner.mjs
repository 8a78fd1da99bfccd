// The runner of Jest in plain worker threads. A thread keeps what its test files and their modules hold, as long as it
// lives: one that has grown too large is replaced by a fresh one between two files.
import { createRunner } from 'jest-light-runner';

/** What a worker's heap may hold when a file has ended, in bytes. A fresh worker that has loaded the whole product holds about 150 MB. */
const HEAP_MOST_BYTES = 320 * 1024 * 1024;

export default class RecyclingRunner extends createRunner() {
  _runTest(test) {
    const result = super._runTest(test);
    // The runner makes its pool with the first test and passes none of the pool's own limits.
    for (const { pool } of this._testRunners.values())
      if (pool.options) pool.options.maxMemoryLimitBeforeRecycle = HEAP_MOST_BYTES;
    return result;
  }
}
