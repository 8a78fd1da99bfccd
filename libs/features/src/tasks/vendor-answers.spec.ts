import type { OperationState } from '#contracts';
import { storableOperation, storableState, storableText, waitMsOf } from './vendor-call.js';

describe('What vendors answer', () => {
  it.each([
    [undefined, undefined],
    [1_500, 1_500],
    [0, 0],
    [-5, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 3_600_000],
    [2 ** 40, 3_600_000],
  ])('makes a wait of %p ms one of %p ms', (asked, wait) => {
    expect(waitMsOf(asked)).toBe(wait);
  });

  it('leaves the time of the next look to us when the vendor names none that is usable', () => {
    expect(storableState({ state: 'pending', pollDelayMs: Number.NaN })).toEqual({ state: 'pending' });
    expect(storableState({ state: 'pending', pollDelayMs: 40, progressPercent: 3 })).toEqual({
      state: 'pending',
      pollDelayMs: 40,
      progressPercent: 3,
    });
  });

  it.each(['a\0b', 'half a pair \ud83d'])('keeps no file or handle whose name is broken: %j', (name) => {
    const done: OperationState = {
      state: 'succeeded',
      outputs: [{ role: 'output', contentType: 'image/png', url: name }],
    };
    expect(() => storableState(done)).toThrow(expect.objectContaining({ kind: 'refused' }));
    expect(() => storableOperation({ nested: [{ [name]: 1 }] })).toThrow(
      expect.objectContaining({ kind: 'ambiguous' }),
    );
  });

  it('passes on a reason without what cannot be stored', () => {
    expect(storableText('No\0 \ud83dway 🎬')).toBe('No \ufffdway 🎬');
  });
});
