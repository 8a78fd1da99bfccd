import fc from 'fast-check';
import { readDecimal } from '#contracts';
import type { ListedModel, ListedPrice } from './listed-models.js';
import { type BookPrice, changesLittle, differenceOf, proposedPrices } from './proposed-prices.js';

const NOW = new Date('2026-11-27T12:00:00Z');
const BEFORE = new Date('2026-01-01T00:00:00Z');

const listed = (prices: Readonly<Record<string, string>>, more: Partial<ListedModel> = {}): ListedModel => ({
  id: 'one',
  vendor: 'openai',
  prices: Object.entries(prices).map(([name, amount]): ListedPrice => {
    const [unit = '', from = '0'] = name.split('@');
    return {
      unit: unit as ListedPrice['unit'],
      tier: 'default',
      fromInputTokens: Number(from),
      amount: readDecimal(amount)!,
    };
  }),
  unread: [],
  isUnsure: false,
  movedBands: [],
  ...more,
});

const exact = { factorMillionths: 1_000_000n, rounding: null } as const;
const inBook = (unit: string, amountMicros: bigint, more: Partial<BookPrice> = {}): BookPrice => ({
  id: `price_${unit}`,
  model: 'one',
  unit,
  variant: 'default',
  fromInputTokens: 0,
  amountMicros,
  perQuantity: 1_000_000n,
  effectiveFrom: BEFORE,
  ...more,
});

describe('A proposed price', () => {
  it.each<[string, string, bigint, 'cent' | number | null, bigint, bigint]>([
    ['as listed', '1e-07', 1_000_000n, null, 100_000n, 1_000_000n],
    ['times a factor, without a float', '0.0000001', 1_150_000n, null, 115_000n, 1_000_000n],
    [
      'exactly for a billion where a million is not enough',
      '1.234567e-9',
      1_100_001n,
      null,
      1_358_025n,
      1_000_000_000n,
    ],
    ['to the cent, halves up', '0.000001235', 1_000_000n, 'cent', 1_240_000n, 1_000_000n],
    ['never to nothing', '4e-9', 1_000_000n, 'cent', 10_000n, 1_000_000n],
    ['to two digits', '0.000001234567', 1_000_000n, 2, 1_200_000n, 1_000_000n],
    ['to more digits than there are', '1e-7', 1_000_000n, 12, 100_000n, 1_000_000n],
  ])('of tokens is %s', (_what, amount, factorMillionths, rounding, micros, quantity) => {
    const [price] = proposedPrices(listed({ input_token: amount }), { factorMillionths, rounding });
    expect([price?.amountMicros, price?.perQuantity]).toEqual([micros, quantity]);
  });

  it('of a search keeps its parts of a cent', () => {
    const [price] = proposedPrices(listed({ vendor_web_search_call: '0.014' }), {
      factorMillionths: 1_100_000n,
      rounding: 'cent',
    });
    expect([price?.amountMicros, price?.perQuantity]).toEqual([15_400n, 1n]);
  });

  it('without rounding is the product of list and factor, within half a micro for a billion tokens', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 12n),
        fc.integer({ min: 0, max: 15 }),
        fc.bigInt(1n, 1_000_000_000n),
        (digits, places, factorMillionths) => {
          const model = listed({});
          const prices = [
            { unit: 'input_token', tier: 'default', fromInputTokens: 0, amount: { digits, places } },
          ] as const;
          const [price] = proposedPrices({ ...model, prices }, { factorMillionths, rounding: null });
          const scale = 10n ** BigInt(places);
          // Amount for a billion tokens, both times the scale of the list, as whole numbers.
          const is = price!.amountMicros * (1_000_000_000n / price!.perQuantity) * scale;
          const should = digits * factorMillionths * 1_000_000_000n;
          expect(2n * (is > should ? is - should : should - is)).toBeLessThanOrEqual(scale);
        },
      ),
    );
  });
});

describe('The difference of a list to the book', () => {
  const flagsOf = (list: ListedModel, book: readonly BookPrice[], terms = exact) =>
    differenceOf('one', list, terms, book, NOW).flags;

  it('says what rises, falls, begins, was free and would be', () => {
    const book = [inBook('input_token', 1_000_000n), inBook('output_token', 2_000_000n)];
    expect(flagsOf(listed({ input_token: '0.0000012', output_token: '0.0000015' }), book)).toEqual(['rises', 'falls']);
    expect(flagsOf(listed({ input_token: '1e-6', output_token: '2e-6' }), [])).toEqual(['new']);
    expect(
      flagsOf(listed({ input_token: '1e-6', output_token: '2e-6' }), [
        inBook('input_token', 0n),
        inBook('output_token', 2_000_000n),
      ]),
    ).toEqual(['rises', 'from_zero']);
    expect(flagsOf(listed({ input_token: '0', output_token: '0' }), book)).toEqual(['falls', 'free']);
  });

  it('takes the same amount for another number of tokens for the same price', () => {
    const book = [inBook('input_token', 1_000n, { perQuantity: 1_000n }), inBook('output_token', 2_000_000n)];
    const { changed } = differenceOf('one', listed({ input_token: '1e-6', output_token: '2e-6' }), exact, book, NOW);
    expect(changed).toEqual([]);
  });

  it('counts an example price as none, and a price to come as later', () => {
    const example = inBook('input_token', 5n, { id: 'price_example_one' });
    expect(flagsOf(listed({ input_token: '1e-6' }), [example])).toEqual(['new']);
    const later = inBook('input_token', 9_000_000n, { effectiveFrom: new Date('2027-01-01') });
    expect(flagsOf(listed({ input_token: '2e-6' }), [inBook('input_token', 1_900_000n), later])).toEqual([
      'rises',
      'later_price',
    ]);
  });

  it('names what a band would lack: a unit that the book has and the list has not', () => {
    const book = [
      inBook('input_token', 1_000_000n),
      inBook('cached_input_token', 100_000n),
      inBook('output_token', 2_000_000n),
    ];
    const list = listed({
      input_token: '1e-6',
      output_token: '2e-6',
      'input_token@272001': '2e-6',
      'output_token@272001': '3e-6',
    });
    const { flags, missing } = differenceOf('one', list, exact, book, NOW);
    expect([flags, missing]).toEqual([['incomplete_band'], ['one cached_input_token default from 272001']]);
  });

  it('flags a number of more digits than anyone prices by', () => {
    expect(flagsOf(listed({ input_token: '1.0000000000001e-6' }), [])).toEqual(['new', 'many_digits']);
  });

  it('is little where each price changes by less than half', () => {
    const littleAt = (input: string): boolean =>
      changesLittle(
        differenceOf('one', listed({ input_token: input }), exact, [inBook('input_token', 1_000_000n)], NOW),
      );
    expect(['0.000001499999', '0.0000015', '0.000000500001', '0.0000005'].map(littleAt)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
