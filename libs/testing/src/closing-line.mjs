// Says at the end of a run what was not run and why, and ends with one line of numbers that a person and a script can read.
import { relative } from 'node:path';
import { LONG_FOLDERS } from '../../../jest.config.mjs';

/** The reporter of Jest that prints it. */
export default class ClosingLine {
  constructor(globalConfig) {
    this.rootDir = globalConfig.rootDir;
  }

  onRunComplete(contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites, testResults }) {
    const say = (line) => process.stderr.write(`${line}\n`);
    say('');
    for (const { testFilePath, testResults: tests } of testResults)
      for (const [suite, count] of skippedSuites(tests))
        say(`Skipped: ${count} in ${relative(this.rootDir, testFilePath)}, "${suite}"`);
    for (const { config } of contexts)
      if (config.testPathIgnorePatterns.some((pattern) => pattern.endsWith(`${LONG_FOLDERS[0]}/`)))
        say(`Left out: ${LONG_FOLDERS.join(', ')}. They wait for machines, processes and outages: npm run test:all`);
    // A file that could not be loaded has no tests to count.
    say(`${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests} skipped`);
  }
}

/** @returns how many tests of each outermost block were skipped. A name on the command line skips the others of its file on purpose. */
function skippedSuites(tests) {
  const counts = new Map();
  const skipped = tests.some(({ status }) => status !== 'pending') ? [] : tests;
  for (const { ancestorTitles, title } of skipped) {
    const suite = ancestorTitles[0] ?? title;
    counts.set(suite, (counts.get(suite) ?? 0) + 1);
  }
  return counts;
}
