import type { MediaProvider } from '#contracts';
import { observeUpstream } from '#platform';

/** The same provider, with every call to its vendor counted, timed and traced. What it states of its vendor stays. */
export function observedProvider(provider: MediaProvider): MediaProvider {
  const { id } = provider;
  const observed: Pick<MediaProvider, 'start' | 'check' | 'find' | 'open' | 'cancel'> = {
    start: (order, signal) =>
      observeUpstream(id, 'start', () => provider.start(order, signal), { task: order.taskId, model: order.model }),
    check: (operation, signal) => observeUpstream(id, 'check', () => provider.check(operation, signal)),
  };
  if (provider.find) {
    const find = provider.find.bind(provider);
    observed.find = (taskId, signal) => observeUpstream(id, 'find', () => find(taskId, signal), { task: taskId });
  }
  if (provider.open) {
    const open = provider.open.bind(provider);
    observed.open = (output, signal) => observeUpstream(id, 'open', () => open(output, signal));
  }
  if (provider.cancel) {
    const cancel = provider.cancel.bind(provider);
    observed.cancel = (operation, signal) => observeUpstream(id, 'cancel', () => cancel(operation, signal));
  }
  // Inherits instead of copying, so that no statement of a vendor is ever forgotten here.
  return Object.assign(Object.create(provider) as MediaProvider, observed);
}
