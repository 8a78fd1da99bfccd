import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryRise } from './memory-rise.js';

const MIB = 1024 * 1024;
const ALLOWED = 32 * MIB;

/** Makes 128 MiB, a MiB at a time, and gives each to `take`. */
async function makeBuffers(take: (buffer: Buffer) => void): Promise<void> {
  for (let made = 0; made < 128; made += 1) {
    take(Buffer.alloc(MIB, 'a'));
    const until = performance.now() + 10;
    while (performance.now() < until) await nextTurn();
  }
}

describe('memoryRise', () => {
  it('does not count what only waits to be collected', async () => {
    const { bytes } = await memoryRise(ALLOWED, () => makeBuffers(() => undefined));
    expect(bytes).toBeLessThan(ALLOWED);
  });

  it('sees what was held for a while', async () => {
    const { bytes } = await memoryRise(ALLOWED, async () => {
      const held: Buffer[] = [];
      await makeBuffers((buffer) => held.push(buffer));
      held.length = 0;
    });
    expect(bytes).toBeGreaterThan(ALLOWED);
  });

  it('sees what work without a pause has left', async () => {
    const held: Buffer[] = [];
    const { bytes } = await memoryRise(ALLOWED, () => held.push(Buffer.alloc(2 * ALLOWED)));
    expect([bytes > ALLOWED, held.length]).toEqual([true, 1]);
  });
});
