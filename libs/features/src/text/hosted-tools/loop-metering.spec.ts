import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestUses, TextRequest } from '#contracts';
import { ControllableClock } from '#testing';
import { TextTariff } from '../../billing/prices/text-tariff.js';
import type { ReplyEnd } from '../text-metering.js';
import { Settlements } from '../settlements.js';
import type { TextBilling, TextHold, TextSettlement } from '../text-billing.js';
import { ToolLoopMetering, type Round } from './loop-metering.js';

const LIMITS = { maxOutputTokens: 1_000, contextTokens: 10_000, imageTokens: 100 };

/** Holds whatever is asked for, and remembers what was settled. */
class OpenBilling implements TextBilling {
  readonly settled: TextSettlement[] = [];

  async hold({ requestId, outputTokens }: { requestId: string; outputTokens: number }): Promise<TextHold> {
    return { requestId, outputTokens, tariff: new TextTariff([]) };
  }

  async expectFunds(): Promise<void> {}

  quote(): Promise<never> {
    return Promise.reject(new Error('nothing is quoted here'));
  }

  async priced(_model: string, uses: RequestUses): Promise<RequestUses> {
    return uses;
  }

  async settle(_hold: TextHold, settlement: TextSettlement): Promise<void> {
    this.settled.push(settlement);
  }
}

describe('The bill of a request that ends between two rounds of the gateway’s own tools', () => {
  let billing: OpenBilling;
  let metering: ToolLoopMetering;
  beforeEach(() => {
    billing = new OpenBilling();
    metering = new ToolLoopMetering({
      requestId: 'req_1',
      idempotencyKey: undefined,
      accountId: 'acct',
      apiKeyId: 'key',
      model: 'model',
      attribution: undefined,
      isStreamed: true,
      billing,
      settlements: new Settlements(new ControllableClock()),
      counter: () =>
        Promise.resolve({
          count: (text: string) => Promise.resolve(text.length),
          countRequest: () => Promise.resolve({ inputTokens: 3, mostInputTokens: 5, imageTokens: 0 }),
        }),
    });
  });

  const openRound = (): Promise<Round> =>
    metering.open({
      request: () => ({}) as TextRequest,
      inputTokens: 5,
      mostInputTokens: 5,
      hasFiles: false,
      outputTokens: 100,
      leastOutputTokens: 100,
      tools: {},
      limits: LIMITS,
      isOpenEnded: false,
      unpriced: [],
    });

  /** The end of a request in its second round. What its first round wrote was charged with that. */
  async function endOfSecond(isAsked: boolean, end: Pick<ReplyEnd, 'status' | 'isUnseen'>): Promise<void> {
    const first = await openRound();
    first.usage = await metering.usageOf(undefined, 'words');
    metering.endRound('completed');
    const second = await openRound();
    second.isAsked = isAsked;
    metering.settle({ usage: undefined, produced: 'words of the round before', ...end });
    await nextTurn();
    await nextTurn();
  }

  it.each([
    ['is nothing for a round that no upstream was asked for', false, undefined, {}],
    [
      'is what is held for a round whose upstream may be at work',
      true,
      { source: 'held', outputTokens: 100 },
      { tool_round: 1 },
    ],
  ])('%s when the caller leaves', async (_what, isAsked, usage, tools) => {
    await endOfSecond(isAsked, { status: 'aborted', isUnseen: true });
    expect(billing.settled[1]).toMatchObject({ status: 'aborted', usage });
    expect(billing.settled[1]?.tools).toEqual(tools);
  });

  it('is nothing for a round that its upstream refused, whatever the rounds before wrote', async () => {
    await endOfSecond(true, { status: 'failed' });
    expect(billing.settled[1]).toMatchObject({ status: 'failed', usage: undefined });
    expect(billing.settled[1]?.tools).toEqual({});
  });
});
