// Gives every test and every hook an end, since the runner has none of its own and a test that waits forever would hold up
// the whole run. Loaded into each worker before its first test file.
import { addEventHandler } from 'jest-circus';

/** Many times what the slowest of them needs: it ends what hangs, and judges nothing. */
const LIMIT_MS = 300_000;

/** What `run` answers, or a failure after so long. */
async function within(limitMs, run) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

// Our handler comes after the one that has just put the test or hook on its list.
addEventHandler((event, { currentDescribeBlock: block }) => {
  if (event.name !== 'add_test' && event.name !== 'add_hook') return;
  const added = event.name === 'add_test' ? block.children.at(-1) : block.hooks.at(-1);
  const { fn } = added;
  if (fn) added.fn = () => within(Math.max(event.timeout ?? 0, LIMIT_MS), fn);
});
