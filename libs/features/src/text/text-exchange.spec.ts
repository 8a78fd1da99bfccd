import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { TextRequest, TextUsage } from '#contracts';
import { ControllableClock } from '#testing';
import { Settlements } from './settlements.js';
import type { TextBilling, TextHold, TextSettlement } from './text-billing.js';
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

  hold(): Promise<TextHold> {
    return Promise.resolve({ requestId: 'req_1', outputTokens: 100 });
  }

  settle(_hold: TextHold, settlement: TextSettlement): Promise<void> {
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
      hold: { requestId: 'req_1', outputTokens: 100 },
      billing,
      settlements,
      counter: () =>
        Promise.resolve({
          count: (text: string) => text.length,
          countLong: (text: string) => Promise.resolve(text.length),
          countRequest: () => Promise.resolve({ inputTokens: 3, imageTokens: 0 }),
        }),
      request: () => request,
      held: { inputTokens: 5, outputTokens: 100, hasFiles: false },
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

  it.each<[string, TextUsage | undefined, Partial<TextUsage>]>([
    ['nothing was told', undefined, { source: 'counted', inputTokens: 3, outputTokens: 4 }],
    ['no output was told', { ...TOLD, outputTokens: 0 }, { source: 'counted', inputTokens: 11, outputTokens: 4 }],
    ['no input was told', { ...TOLD, inputTokens: 0 }, { source: 'counted', inputTokens: 3, outputTokens: 7 }],
  ])('counts what is missing when %s', async (_case, usage, due) => {
    begin({} as TextRequest).settle({ usage, produced: 'four', status: 'completed' });
    await nextTurn();
    expect(billing.settled).toMatchObject([{ status: 'completed', usage: due }]);
    billing.finish();
    await settlements.drain();
  });

  it.each<[string, Partial<TextRequest>, boolean | undefined, Partial<TextUsage>]>([
    ['could have reasoned unasked', {}, true, { source: 'held', outputTokens: 100, reasoningTokens: 96 }],
    ['had not begun to reply', {}, undefined, { source: 'held', outputTokens: 100 }],
    ['shows all it does', {}, false, { source: 'counted', outputTokens: 4 }],
    [
      'was asked to reason within a budget',
      { reasoning: { visible: true, budgetTokens: 20 } },
      false,
      { source: 'held', outputTokens: 24, reasoningTokens: 20 },
    ],
    ['was told not to reason', { reasoning: { visible: false, effort: 'none' } }, true, { outputTokens: 4 }],
  ])('charges a caller who left what an upstream that %s may have done', async (_case, request, mayReason, due) => {
    const exchange = begin(request as TextRequest);
    if (mayReason !== undefined) exchange.follow({ reportedUsage: () => undefined, mayReasonUnasked: mayReason });
    exchange.settle({ usage: undefined, produced: 'four', status: 'aborted', isUnseen: true });
    await nextTurn();
    await nextTurn();
    expect(billing.settled).toMatchObject([{ status: 'aborted', usage: due }]);
    billing.finish();
    await settlements.drain();
  });

  it('charges what was delivered of a reply that failed, whoever broke it', async () => {
    begin({} as TextRequest).settle({ usage: undefined, produced: 'four', status: 'failed' });
    await nextTurn();
    expect(billing.settled).toMatchObject([{ status: 'failed', usage: { inputTokens: 3, outputTokens: 4 } }]);
    billing.finish();
    await settlements.drain();
  });

  it('charges an input that was told although nothing was written', async () => {
    begin({} as TextRequest).settle({ usage: { ...TOLD, outputTokens: 0 }, produced: '', status: 'completed' });
    await nextTurn();
    expect(billing.settled).toMatchObject([{ usage: { inputTokens: 11, outputTokens: 0, source: 'upstream' } }]);
    billing.finish();
    await settlements.drain();
  });

  it.each(['failed', 'aborted', 'completed'] as const)(
    'charges nothing for a reply of which nothing was told and nothing went out (%s)',
    async (status) => {
      begin({} as TextRequest).settle({ usage: undefined, produced: '', status });
      await nextTurn();
      expect(billing.settled).toMatchObject([{ status, usage: undefined }]);
      billing.finish();
      await settlements.drain();
    },
  );

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
