import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LastPart, RequestUses, TextRequest, TextUsage } from '#contracts';
import { loadTokenCounter, TextCosts, type TokenCounter } from '#providers';
import { ControllableClock } from '#testing';
import { Settlements } from './settlements.js';
import { TextTariff } from '../billing/prices/text-tariff.js';
import type { TextBilling, TextHold, TextSettlement } from './text-billing.js';
import { type ReplyEnd, TextMetering } from './text-metering.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const REPORTED: TextUsage = {
  inputTokens: 11,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  imageInputTokens: 0,
  outputTokens: 7,
  reasoningTokens: 0,
  source: 'upstream',
};

/** The most that the reply can use. */
const BOUNDS = { inputTokens: 1_000, outputTokens: 200 };

const HOLD: TextHold = { requestId: 'req_1', outputTokens: 100, tariff: new TextTariff([]) };

/** Takes what it is told to settle, and is done when the test says so. */
class SlowBilling implements TextBilling {
  readonly settled: TextSettlement[] = [];
  finish: () => void = () => {};

  hold(): Promise<TextHold> {
    return Promise.resolve(HOLD);
  }

  async expectFunds(): Promise<void> {}

  quote(): Promise<never> {
    return Promise.reject(new Error('nothing is quoted here'));
  }

  async priced(_model: string, uses: RequestUses): Promise<RequestUses> {
    return uses;
  }

  settle(_hold: TextHold, settlement: TextSettlement): Promise<void> {
    this.settled.push(settlement);
    return new Promise((resolve) => (this.finish = resolve));
  }
}

describe('TextMetering', () => {
  let billing: SlowBilling;
  let settlements: Settlements;
  beforeEach(() => {
    billing = new SlowBilling();
    settlements = new Settlements(new ControllableClock());
  });

  /** A token for each character. */
  const ofCharacters: TokenCounter = {
    count: (text) => Promise.resolve(text.length),
    countRequest: () => Promise.resolve({ inputTokens: 3, imageTokens: 0 }),
  };
  const begin = (request: TextRequest, counter = ofCharacters): TextMetering =>
    new TextMetering({
      hold: HOLD,
      billing,
      settlements,
      counter: () => Promise.resolve(counter),
      request: () => request,
      countable: () => request,
      held: { inputTokens: 5, outputTokens: 100, hasFiles: false, bounds: BOUNDS },
    });

  it('releases the request while the settlement of a reported usage is still queued', async () => {
    function settled(): WeakRef<TextRequest> {
      const request = {} as TextRequest;
      begin(request).settle({ usage: REPORTED, produced: '', status: 'completed' });
      return new WeakRef(request);
    }
    const request = settled();
    await nextTurn();
    collectGarbage();
    expect(billing.settled).toMatchObject([{ status: 'completed', usage: REPORTED }]);
    expect(request.deref()).toBeUndefined();
    billing.finish();
    await settlements.drain();
  });

  it.each(['completed', 'failed', 'aborted'] as const)(
    'writes what a reply cost that was reported and %s, also where the caller pays nothing for it',
    async (status) => {
      const metering = begin({} as TextRequest);
      const costs = new TextCosts({ costs: { unit: 'USD', m: { input_token: 1, output_token: 2 } } }, 'USD').of('m');
      metering.repliedBy('upstream', undefined, costs);
      metering.follow({ reportedUsage: () => REPORTED, mayReasonUnasked: false });
      metering.settle({ usage: undefined, produced: '', status });
      await nextTurn();
      expect(billing.settled).toMatchObject([
        { status, usage: undefined, cost: { micros: 25_000_000n, unit: 'USD', isReported: false } },
      ]);
      billing.finish();
      await settlements.drain();
    },
  );

  it.each<[string, TextUsage | undefined, Partial<TextUsage>]>([
    ['nothing was reported', undefined, { source: 'counted', inputTokens: 3, outputTokens: 4 }],
    [
      'no output was reported',
      { ...REPORTED, outputTokens: 0 },
      { source: 'counted', inputTokens: 11, outputTokens: 4 },
    ],
    ['no input was reported', { ...REPORTED, inputTokens: 0 }, { source: 'counted', inputTokens: 3, outputTokens: 7 }],
    [
      'only what was cached of the input was reported',
      { ...REPORTED, inputTokens: 0, cachedInputTokens: 90, cacheWriteTokens: 5 },
      { source: 'counted', inputTokens: 95, cachedInputTokens: 90, cacheWriteTokens: 5, outputTokens: 7 },
    ],
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
    ['was asked not to reason', { reasoning: { visible: false, effort: 'none' } }, true, { outputTokens: 4 }],
  ])(
    'charges a caller that left for what an upstream that %s may have done',
    async (_case, request, mayReason, due) => {
      const metering = begin(request as TextRequest);
      if (mayReason !== undefined) metering.follow({ reportedUsage: () => undefined, mayReasonUnasked: mayReason });
      metering.settle({ usage: undefined, produced: 'four', status: 'aborted', isUnseen: true });
      await nextTurn();
      await nextTurn();
      expect(billing.settled).toMatchObject([{ status: 'aborted', usage: due }]);
      billing.finish();
      await settlements.drain();
    },
  );

  it('counts a long reply to a caller that left while other work goes on', async () => {
    const counter = await loadTokenCounter();
    let others = 0;
    const isDone = (): boolean => billing.settled.length > 0;
    const metering = begin({ reasoning: { visible: false, effort: 'none' } } as TextRequest, {
      ...ofCharacters,
      count: (text) => counter.count(text),
    });
    metering.settle({
      usage: undefined,
      produced: 'a\u0323\u0301\u0307'.repeat(30_000),
      status: 'aborted',
      isUnseen: true,
    });
    while (!isDone()) {
      others += 1;
      await nextTurn();
    }
    expect(others).toBeGreaterThan(10);
    billing.finish();
    await settlements.drain();
  });

  it.each<[string, Partial<TextUsage>, Partial<TextUsage>]>([
    [
      'more than possible',
      { inputTokens: 5_000, cachedInputTokens: 4_000, outputTokens: 9_000, reasoningTokens: 8_000 },
      { inputTokens: 1_000, cachedInputTokens: 1_000, outputTokens: 200, reasoningTokens: 200, source: 'held' },
    ],
    ['the most possible', { inputTokens: 1_000, outputTokens: 200 }, { outputTokens: 200, source: 'upstream' }],
  ])('charges a report of %s up to what is possible', async (_case, reported, due) => {
    const metering = begin({} as TextRequest);
    const usage = { ...REPORTED, ...reported };
    metering.follow({ reportedUsage: () => usage, mayReasonUnasked: false });
    expect(await metering.usageOf(usage, 'four')).toMatchObject(due);
    metering.settle({ usage, produced: '', status: 'completed' });
    expect(billing.settled).toMatchObject([{ usage: due }]);
    billing.finish();
    await settlements.drain();
  });

  const calls = [REPORTED, { ...REPORTED, inputTokens: 18 }];
  const CONTINUED: TextUsage = { ...REPORTED, inputTokens: 29, outputTokens: 14, calls };
  it.each<[string, TextUsage, LastPart, Partial<ReplyEnd>, Partial<TextUsage>]>([
    [
      'whose caller left',
      CONTINUED,
      { written: 'nine more', isReported: true },
      { isUnseen: true, status: 'aborted' },
      {
        inputTokens: 29,
        outputTokens: 100,
        source: 'held',
        calls: [REPORTED, expect.objectContaining({ inputTokens: 18, outputTokens: 93, reasoningTokens: 84 })],
      },
    ],
    [
      'whose last part broke before it reported anything',
      REPORTED,
      { written: 'nine more', isReported: false },
      { status: 'failed' },
      {
        inputTokens: 29,
        outputTokens: 16,
        source: 'counted',
        calls: [REPORTED, expect.objectContaining({ inputTokens: 18, outputTokens: 9, source: 'counted' })],
      },
    ],
    [
      'whose last part broke before it reported an output',
      { ...CONTINUED, outputTokens: 7, calls: [REPORTED, { ...REPORTED, inputTokens: 20, outputTokens: 0 }] },
      { written: 'nine more', isReported: true },
      { status: 'failed' },
      { inputTokens: 31, outputTokens: 16, calls: [REPORTED, expect.objectContaining({ outputTokens: 9 })] },
    ],
    [
      'whose last part broke before its first word',
      REPORTED,
      { written: '', isReported: false },
      { status: 'failed' },
      REPORTED,
    ],
    [
      'of which one part is more than possible',
      { ...CONTINUED, inputTokens: 1_101, calls: [REPORTED, { ...REPORTED, inputTokens: 1_090 }] },
      { written: 'nine more', isReported: true },
      { status: 'completed' },
      { inputTokens: 1_011, source: 'held', calls: [REPORTED, expect.objectContaining({ inputTokens: 1_000 })] },
    ],
    [
      'of which only all parts are more than one can be',
      { ...CONTINUED, inputTokens: 1_800, calls: [900, 900].map((inputTokens) => ({ ...REPORTED, inputTokens })) },
      { written: 'nine more', isReported: true },
      { status: 'completed' },
      { inputTokens: 1_800, source: 'upstream' },
    ],
  ])('charges each request of a continued reply by itself: one %s', async (_case, usage, lastPart, end, due) => {
    const metering = begin({} as TextRequest);
    metering.follow({ reportedUsage: () => usage, mayReasonUnasked: true, lastPart: () => lastPart });
    metering.settle({ usage, produced: 'first, nine more', status: 'completed', ...end });
    await nextTurn();
    await nextTurn();
    expect(billing.settled).toMatchObject([{ usage: due }]);
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

  it('charges a reported input although nothing was written', async () => {
    begin({} as TextRequest).settle({ usage: { ...REPORTED, outputTokens: 0 }, produced: '', status: 'completed' });
    await nextTurn();
    expect(billing.settled).toMatchObject([{ usage: { inputTokens: 11, outputTokens: 0, source: 'upstream' } }]);
    billing.finish();
    await settlements.drain();
  });

  it.each(['failed', 'aborted', 'completed'] as const)(
    'charges nothing for a reply of which nothing was reported and nothing went out (%s)',
    async (status) => {
      begin({} as TextRequest).settle({ usage: undefined, produced: '', status });
      await nextTurn();
      expect(billing.settled).toMatchObject([{ status, usage: undefined }]);
      billing.finish();
      await settlements.drain();
    },
  );

  it('settles once, even when several exits of a request do', async () => {
    const metering = begin({} as TextRequest);
    metering.settle({ usage: REPORTED, produced: '', status: 'completed' });
    metering.settle({ usage: undefined, produced: '', status: 'failed' });
    await nextTurn();
    expect(billing.settled).toHaveLength(1);
    billing.finish();
    await settlements.drain();
  });
});
