import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { TextRequest, TextUsage } from '#contracts';
import { ControllableClock } from '#testing';
import { Settlements } from './settlements.js';
import type { TextBilling, TextSettlement } from './text-billing.js';
import { TextExchange } from './text-exchange.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const TOLD: TextUsage = {
  inputTokens: 11,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  imageInputTokens: 0,
  outputTokens: 7,
  reasoningTokens: 0,
  source: 'upstream',
};

/** Takes what it is told to settle, and is done when the test says so. */
class SlowBilling implements TextBilling {
  readonly settled: TextSettlement[] = [];
  finish: () => void = () => {};

  hold(): Promise<{ requestId: string }> {
    return Promise.resolve({ requestId: 'req_1' });
  }

  settle(_hold: { requestId: string }, settlement: TextSettlement): Promise<void> {
    this.settled.push(settlement);
    return new Promise((resolve) => (this.finish = resolve));
  }
}

describe('TextExchange', () => {
  let billing: SlowBilling;
  let settlements: Settlements;
  beforeEach(() => {
    billing = new SlowBilling();
    settlements = new Settlements(new ControllableClock());
  });

  const begin = (request: TextRequest): TextExchange =>
    new TextExchange({
      hold: { requestId: 'req_1' },
      billing,
      settlements,
      counter: () =>
        Promise.resolve({
          count: (text: string) => text.length,
          countRequest: () => Promise.resolve({ inputTokens: 3, imageTokens: 0 }),
        }),
      request: () => request,
      estimatedInputTokens: 5,
    });

  it('lets go of the request while the settlement of a told usage still waits for others', async () => {
    function settled(): WeakRef<TextRequest> {
      const request = {} as TextRequest;
      begin(request).settle({ usage: TOLD, produced: '', status: 'completed' });
      return new WeakRef(request);
    }
    const request = settled();
    await nextTurn();
    collectGarbage();
    expect(billing.settled).toMatchObject([{ status: 'completed', usage: TOLD }]);
    expect(request.deref()).toBeUndefined();
    billing.finish();
    await settlements.drain();
  });

  it.each([
    ['nothing was told', undefined],
    ['no output was told', { ...TOLD, outputTokens: 0 }],
  ])('counts what went out when %s', async (_case, usage) => {
    begin({} as TextRequest).settle({ usage, produced: 'four', status: 'aborted' });
    await nextTurn();
    expect(billing.settled).toMatchObject([
      { status: 'aborted', usage: { source: 'counted', inputTokens: 3, outputTokens: 4 } },
    ]);
    billing.finish();
    await settlements.drain();
  });

  it.each([
    ['failed', { usage: TOLD, produced: 'four', status: 'failed' as const }],
    ['produced nothing', { usage: undefined, produced: '', status: 'aborted' as const }],
    [
      'was told no output and had none',
      { usage: { ...TOLD, outputTokens: 0 }, produced: '', status: 'completed' as const },
    ],
  ])('charges nothing when the reply %s', async (_case, end) => {
    begin({} as TextRequest).settle(end);
    await nextTurn();
    expect(billing.settled).toMatchObject([{ status: end.status, usage: undefined }]);
    billing.finish();
    await settlements.drain();
  });

  it('settles once, however many ways out of a request say so', async () => {
    const exchange = begin({} as TextRequest);
    exchange.settle({ usage: TOLD, produced: '', status: 'completed' });
    exchange.settle({ usage: undefined, produced: '', status: 'failed' });
    await nextTurn();
    expect(billing.settled).toHaveLength(1);
    billing.finish();
    await settlements.drain();
  });
});
