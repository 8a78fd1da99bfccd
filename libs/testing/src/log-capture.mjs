// Sends the log lines of all spec files to one file, which the end of the run searches for secrets and prompts; the
// output of the tests stays readable.
import { appendFileSync } from 'node:fs';
import { addEventHandler } from 'jest-circus';
import { configureLog } from '#platform';

const file = process.env.TEST_LOG_FILE;
const destination = { write: (line) => appendFileSync(file, line) };

// Before the tests of every file anew: the file before may have listened to the log itself.
addEventHandler((event) => {
  if (file && event.name === 'add_test') configureLog({ LOG_LEVEL: 'info' }, destination, 'test');
});
