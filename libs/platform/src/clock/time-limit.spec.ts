import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '#testing';
import { abortAfter, withinTime } from './time-limit.js';

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
