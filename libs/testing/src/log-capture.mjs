// Sends the log lines of all spec files to one file, which the end of the run searches for secrets and prompts; the
// output of the tests stays readable.
import { appendFileSync } from 'node:fs';
import { addEventHandler } from 'jest-circus';
import { configureLog } from '#platform';

const file = process.env.TEST_LOG_FILE;
const destination = { write: (line) => appendFileSync(file, line) };

// Before the tests of a file, and after each group of tests: some listen to the log themselves.
const MOMENTS = new Set(['add_test', 'run_describe_finish']);

addEventHandler((event) => {
  if (file && MOMENTS.has(event.name)) configureLog({ LOG_LEVEL: 'info' }, destination, 'test');
});
