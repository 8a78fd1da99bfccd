import type { MediaProvider } from '#contracts';
import { observeUpstream } from '#platform';

/** The same provider, with every call to its vendor counted, timed and traced. */
export function observedProvider(provider: MediaProvider): MediaProvider {
  const { id, repeatStart, find, open, cancel } = provider;
  return {
    id,
    repeatStart,
    start: (order, signal) =>
      observeUpstream(id, 'start', () => provider.start(order, signal), { task: order.taskId, model: order.model }),
    check: (operation, signal) => observeUpstream(id, 'check', () => provider.check(operation, signal)),
    ...(find && {
      find: (taskId, signal) =>
        observeUpstream(id, 'find', () => find.call(provider, taskId, signal), { task: taskId }),
    }),
    ...(open && { open: (output, signal) => observeUpstream(id, 'open', () => open.call(provider, output, signal)) }),
    ...(cancel && {
      cancel: (operation, signal) => observeUpstream(id, 'cancel', () => cancel.call(provider, operation, signal)),
    }),
  };
}
