import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { StopSignal } from '#contracts';
import { eventually } from '#testing';
import { abortAfter, asAbortSignal, StopSource, withinTime } from './time-limit.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Runs the garbage collector until `done` returns true. */
const collectUntil = (done: () => boolean): Promise<boolean> =>
  eventually(() => {
    collect();
    return done();
  });

describe('A signal that aborts after a time', () => {
  it('does so despite garbage collection, alone and joined, also when it is joined again', async () => {
    const aborted: string[] = [];
    const listen = (name: string, signal: AbortSignal): void =>
      signal.addEventListener('abort', () => aborted.push(`${name} ${signal.reason.name}`));
    // Nothing of these is held by this test.
    (() => {
      listen('alone', abortAfter(100));
      listen('joined', abortAfter(100, new AbortController().signal));
      listen('joined again', AbortSignal.any([abortAfter(100, new AbortController().signal), abortAfter(60_000)]));
    })();
    await collectUntil(() => aborted.length === 3);
    expect(aborted.toSorted()).toEqual(['alone TimeoutError', 'joined TimeoutError', 'joined again TimeoutError']);
  });

  it('ends work that takes longer, or whose caller leaves', async () => {
    const untilAborted = (signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    await expect(withinTime(20, undefined, untilAborted)).rejects.toMatchObject({ name: 'TimeoutError' });
    const caller = new AbortController();
    const left = withinTime(60_000, caller.signal, untilAborted);
    caller.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
  });

  it('sets no limit on finished work', async () => {
    const signal = await withinTime(5, undefined, (given) => Promise.resolve(given));
    await sleep(50);
    expect(signal.aborted).toBe(false);
  });

  it('aborts with the signal it is joined with, for its reason', () => {
    const caller = new AbortController();
    const signal = abortAfter(60_000, caller.signal);
    caller.abort(new Error('left'));
    expect([signal.aborted, signal.reason]).toEqual([true, new Error('left')]);
  });
});

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
