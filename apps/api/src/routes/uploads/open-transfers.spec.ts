import { BY_LINK, OpenTransfers, type Transfer } from './open-transfers.js';

const MINUTE_MS = 60_000;
const FULL = 24;

/** A process that sends as many files as it may, the numbered one at so many bytes a second, and the others quickly. */
function fullProcess(slow: Record<number, number>) {
  let nowMs = 0;
  const cut: number[] = [];
  const transfers = new OpenTransfers('download', undefined, () => nowMs);
  const endings: (() => void)[] = [];
  const send = (account: string, transfer?: Transfer): Promise<void> =>
    transfers.during(account, () => new Promise((resolve) => endings.push(resolve)), transfer);
  const sent = Array.from({ length: FULL }, (_, index) =>
    send(`account ${index % 6}`, {
      bytes: () => ((slow[index] ?? 1_000_000) * nowMs) / 1_000,
      cut: () => {
        cut.push(index);
        endings[index]?.();
      },
    }),
  );
  return {
    cut,
    sent,
    transfers,
    passes: (ms: number) => void (nowMs += ms),
    ask: () => transfers.during('another', () => Promise.resolve('sent')),
  };
}

const overloaded: unknown = expect.objectContaining({ code: 'overloaded' });

describe('A process that sends as many files as it may', () => {
  it('ends the slowest for another when it is slower than anybody need be', async () => {
    const { cut, sent, passes, ask } = fullProcess({ 3: 200, 5: 100, 9: 8_000 });
    passes(MINUTE_MS);
    await expect(ask()).resolves.toBe('sent');
    expect(cut).toEqual([5]);
    await sent[5];
    // The place of the one that was ended is free now, so that no other need go.
    await expect(ask()).resolves.toBe('sent');
    expect(cut).toEqual([5]);
  });

  it('ends none that is as quick as it must be, and none that is young', async () => {
    const quick = fullProcess({ 3: 8_192 });
    quick.passes(MINUTE_MS);
    await expect(quick.ask()).rejects.toEqual(overloaded);
    const young = fullProcess({ 3: 0 });
    young.passes(MINUTE_MS - 1);
    await expect(young.ask()).rejects.toEqual(overloaded);
    expect([...quick.cut, ...young.cut]).toEqual([]);
  });

  it('lets an account have no more than its share, however slow its own are', async () => {
    const { cut, passes, transfers } = fullProcess({ 0: 1 });
    passes(MINUTE_MS);
    await expect(transfers.during('account 0', () => Promise.resolve())).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    });
    expect(cut).toEqual([]);
  });
});

describe('An account whose links are read as often at once as they may be', () => {
  /** All places of the account, of which the numbered one is read at so many bytes a second, and the others quickly. */
  function fullAccount(slow: Record<number, number>) {
    let nowMs = 0;
    const cut: number[] = [];
    const transfers = new OpenTransfers('download', BY_LINK, () => nowMs);
    const sent = Array.from({ length: BY_LINK.ofAccount }, (_, index) => {
      let end = (): void => {};
      const bytes = (): number => ((slow[index] ?? 1_000_000) * nowMs) / 1_000;
      const transfer = { bytes, cut: () => (cut.push(index), end()) };
      return transfers.during('ours', () => new Promise<void>((resolve) => (end = resolve)), transfer);
    });
    const ask = () => transfers.during('ours', () => Promise.resolve('sent'));
    return { cut, sent, transfers, passes: (ms: number) => void (nowMs += ms), ask };
  }

  it('is not closed to others by one who has a link and hardly reads', async () => {
    const { cut, sent, passes, ask } = fullAccount({ 3: 200, 5: 100 });
    passes(MINUTE_MS);
    await expect(ask()).resolves.toBe('sent');
    expect(cut).toEqual([5]);
    await sent[5];
  });

  it('keeps those that are quick or young, and those of other accounts', async () => {
    const refused: unknown = expect.objectContaining({ code: 'rate_limit_exceeded' });
    const quick = fullAccount({ 3: 8_192 });
    const others: string[] = [];
    const slow = { bytes: () => 0, cut: () => void others.push('cut') };
    void quick.transfers.during('theirs', () => new Promise<void>(() => {}), slow);
    quick.passes(MINUTE_MS);
    await expect(quick.ask()).rejects.toEqual(refused);
    const young = fullAccount({ 3: 0 });
    young.passes(MINUTE_MS - 1);
    await expect(young.ask()).rejects.toEqual(refused);
    expect([...quick.cut, ...young.cut, ...others]).toEqual([]);
  });
});
