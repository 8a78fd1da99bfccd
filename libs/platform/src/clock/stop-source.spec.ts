import type { StopSignal } from '#contracts';
import { asAbortSignal, StopSource } from './stop-source.js';

/** What a signal shows, and what its listeners heard of. */
function watched(make: () => { signal: StopSignal; abort: (reason?: unknown) => void }) {
  const { signal, abort } = make();
  const heard: string[] = [];
  const [first, left] = [() => heard.push('first'), () => heard.push('left')];
  const state = () => [signal.aborted, signal.reason, heard.join(' ')];
  return { signal, abort, heard, first, left, state };
}

const reason = new Error('left');
const SORTS = {
  'a stop source': () => {
    const signal = new StopSource();
    return { signal, abort: (why?: unknown) => signal.abort(why) };
  },
  'an abort signal': () => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: (why?: unknown) => controller.abort(why) };
  },
  'the abort signal of a stop source': () => {
    const source = new StopSource();
    return { signal: asAbortSignal(source), abort: (why?: unknown) => source.abort(why) };
  },
};

describe.each(Object.entries(SORTS))('A stop signal that is %s', (_name, make) => {
  it('tells its listeners once, and keeps its first reason', () => {
    const { signal, abort, first, state } = watched(make);
    signal.addEventListener('abort', first);
    expect(state()).toEqual([false, undefined, '']);
    expect(() => signal.throwIfAborted()).not.toThrow();
    abort(reason);
    abort(new Error('later'));
    expect(state()).toEqual([true, reason, 'first']);
    expect(() => signal.throwIfAborted()).toThrow(reason);
  });

  it('does not call a listener that was removed, nor one that came too late', () => {
    const { signal, abort, first, left, state } = watched(make);
    signal.addEventListener('abort', left);
    signal.addEventListener('abort', first);
    signal.removeEventListener('abort', left);
    signal.removeEventListener('abort', left);
    abort(reason);
    signal.addEventListener('abort', left);
    expect(state()).toEqual([true, reason, 'first']);
  });

  it('has an AbortError for its reason where none is given', () => {
    const { signal, abort } = make();
    abort();
    expect(signal.reason).toMatchObject({ name: 'AbortError' });
  });
});

describe('The abort signal of a stop signal', () => {
  it('is the signal itself where it is one', () => {
    const { signal } = new AbortController();
    expect(asAbortSignal(signal)).toBe(signal);
  });

  it('has aborted where the stop signal has', () => {
    const source = new StopSource();
    source.abort(reason);
    expect(asAbortSignal(source)).toMatchObject({ aborted: true, reason });
  });
});
