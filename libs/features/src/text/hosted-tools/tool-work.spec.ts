import { ToolShares } from './tool-work.js';

const never = new AbortController().signal;

/** Work that ends on command. */
function job(): { readonly run: () => Promise<void>; readonly end: () => void; begun: boolean } {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const made = {
    begun: false,
    end: () => end(),
    run: () => {
      made.begun = true;
      return over;
    },
  };
  return made;
}

describe('The tools of an account', () => {
  it('queue beyond their share, and those of another account do not', async () => {
    const shares = new ToolShares(1);
    const [first, second, other] = [job(), job(), job()];
    const running = [shares.run('a', never, first.run), shares.run('a', never, second.run)];
    const others = shares.run('b', never, other.run);
    await Promise.resolve();
    expect([first.begun, second.begun, other.begun]).toEqual([true, false, true]);
    first.end();
    await running[0];
    await Promise.resolve();
    expect(second.begun).toBe(true);
    second.end();
    other.end();
    await Promise.all([...running, others]);
  });

  it('leave the queue when they are stopped, and hold no slot then', async () => {
    const shares = new ToolShares(1);
    const [first, second, third] = [job(), job(), job()];
    const running = shares.run('a', never, first.run);
    const stop = new AbortController();
    const waiting = shares.run('a', stop.signal, second.run);
    const last = shares.run('a', never, third.run);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    first.end();
    await running;
    third.end();
    await last;
    expect([second.begun, third.begun]).toEqual([false, true]);
  });
});
