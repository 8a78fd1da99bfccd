import type { MediaProvider } from '#contracts';
import { observedProvider } from './open-media-upstreams.js';

const signal = new AbortController().signal;

const vendor: MediaProvider = {
  id: 'kite',
  repeatStart: 'lookup',
  checksPerSecond: 7,
  startTimeoutMs: 5_000,
  findableAfterMs: 9_000,
  start: async () => ({ vendorTaskId: '1' }),
  check: async () => ({ state: 'pending' }),
  find: async (taskId) => ({ vendorTaskId: taskId }),
};

describe('observedProvider', () => {
  it('keeps everything that the provider states of its vendor', () => {
    const { id, repeatStart, checksPerSecond, startTimeoutMs, findableAfterMs } = observedProvider(vendor);
    expect({ id, repeatStart, checksPerSecond, startTimeoutMs, findableAfterMs }).toEqual({
      id: 'kite',
      repeatStart: 'lookup',
      checksPerSecond: 7,
      startTimeoutMs: 5_000,
      findableAfterMs: 9_000,
    });
  });

  it('has the optional verbs that the provider has, and no others', async () => {
    const observed = observedProvider(vendor);
    await expect(observed.find?.('task_1', signal)).resolves.toEqual({ vendorTaskId: 'task_1' });
    expect(['open' in observed, 'cancel' in observed]).toEqual([false, false]);
  });
});
