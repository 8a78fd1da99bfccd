// The runner of Jest in plain worker threads. A thread keeps what its test files and their modules hold, as long as it
// lives: one that has grown too large is replaced by a fresh one between two files.
import { createRunner } from 'jest-light-runner';

/** What a worker's heap may hold when a file has ended, in bytes. A fresh worker that has loaded the whole product holds about 150 MB. */
const HEAP_MOST_BYTES = 320 * 1024 * 1024;

/**
 * How long a file may take, in milliseconds. The limits of its tests are timers of its own thread, which never fire where the thread
 * does not come to rest. Beside much other work the longest has taken eleven minutes, and more than fifteen.
 */
const FILE_MOST_MS = 30 * 60_000;

export default class RecyclingRunner extends createRunner() {
  /** The pool starts all its threads at once, half a second of processor each: no more than there are files. */
  runTests(tests, ...others) {
    const { maxWorkers } = this._globalConfig;
    this._globalConfig = { ...this._globalConfig, maxWorkers: Math.max(1, Math.min(maxWorkers, tests.length)) };
    return super.runTests(tests, ...others);
  }

  _runTest(test) {
    const result = super._runTest(test);
    // The runner makes its pool with the first test and passes none of the pool's own limits.
    for (const { pool } of this._testRunners.values())
      if (pool.options) pool.options.maxMemoryLimitBeforeRecycle = HEAP_MOST_BYTES;
    return withinLimit(result);
  }
}

/** The result of a file, or the failure of one that goes on for too long: its thread is ended with the others. */
function withinLimit(result) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    const error = new Error(`This file did not end within ${FILE_MOST_MS / 60_000} minutes.`);
    timer = setTimeout(() => reject(error), FILE_MOST_MS);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
