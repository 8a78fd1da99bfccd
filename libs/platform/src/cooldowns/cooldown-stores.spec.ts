import { createTestDatabase, type TestDatabase } from '#testing';
import { createCooldowns } from './cooldown-stores.js';

describe('The cooldowns of a process that is the only one', () => {
  const tests: TestDatabase[] = [];
  beforeAll(async () => {
    tests.push(await createTestDatabase(), await createTestDatabase());
  });
  afterAll(() => Promise.all(tests.map((test) => test.remove())));

  it('are known to all of its parts, and to no other gateway', () => {
    const [own, other] = tests.map(
      ({ database }) =>
        () =>
          createCooldowns({ QUEUE_PREFIX: 'unused' }, database, true),
    );
    own?.().coolDown('media vendor', 60_000);
    expect([own?.().stateOf('media vendor'), other?.().stateOf('media vendor')]).toEqual(['cooling_down', 'available']);
  });
});
