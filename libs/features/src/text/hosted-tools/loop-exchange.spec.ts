import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TextRequest } from '#contracts';
import { ControllableClock } from '#testing';
import { Settlements } from '../settlements.js';
import type { TextBilling, TextHold, TextSettlement } from '../text-billing.js';
import { LoopExchange, type Round } from './loop-exchange.js';

const LIMITS = { maxOutputTokens: 1_000, contextTokens: 10_000, imageTokens: 100 };

/** Holds whatever is asked for, and remembers what was settled. */
class OpenBilling implements TextBilling {
  readonly settled: TextSettlement[] = [];

  async hold({ requestId, outputTokens }: { requestId: string; outputTokens: number }): Promise<TextHold> {
    return { requestId, outputTokens };
  }

  async settle(_hold: TextHold, settlement: TextSettlement): Promise<void> {
    this.settled.push(settlement);
  }
}

describe('A caller who leaves between two rounds of the gateway’s own tools', () => {
  let billing: OpenBilling;
  let exchange: LoopExchange;
  beforeEach(() => {
    billing = new OpenBilling();
    exchange = new LoopExchange({
      requestId: 'req_1',
      idempotencyKey: undefined,
      accountId: 'acct',
      apiKeyId: 'key',
      model: 'model',
      billing,
      settlements: new Settlements(new ControllableClock()),
      counter: () =>
        Promise.resolve({
          count: (text: string) => text.length,
          countLong: (text: string) => Promise.resolve(text.length),
          countRequest: () => Promise.resolve({ inputTokens: 3, imageTokens: 0 }),
        }),
    });
  });

  const openRound = (): Promise<Round> =>
    exchange.open({
      request: () => ({}) as TextRequest,
      inputTokens: 5,
      hasFiles: false,
      outputTokens: 100,
      leastOutputTokens: 100,
      tools: {},
      limits: LIMITS,
      isOpenEnded: false,
    });

  it.each([
    ['pays nothing for a round that no upstream was asked for', false, undefined],
    ['pays what is held for a round whose upstream may be at work', true, { source: 'held', outputTokens: 100 }],
  ])('%s', async (_what, isAsked, usage) => {
    const round = await openRound();
    round.isAsked = isAsked;
    exchange.settle({ usage: undefined, produced: 'words of the round before', status: 'aborted', isUnseen: true });
    await nextTurn();
    await nextTurn();
    expect(billing.settled).toMatchObject([{ status: 'aborted', usage }]);
  });
});
