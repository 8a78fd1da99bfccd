import { createTestDatabase, eventually, skewClock, type TestDatabase } from '#testing';
import { PriceBook } from './price-book.js';

describe('The price of a task', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_d', 'eta-image-2.0', 'image', 1000000000000, 1, '2026-01-01', 'test')`,
    });
  });
  afterAll(() => test.remove());

  const quote = (quantity: number) =>
    new PriceBook(test.database).quote('eta-image-2.0', {
      unit: 'image',
      variant: 'default',
      quantity,
      settle: 'as-held',
    });

  it('is the price of one times their number', async () => {
    expect(await quote(3)).toMatchObject({ unitMicros: 1_000_000_000_000n, holdMicros: 3_000_000_000_000n });
  });

  it('is the new one soon after it came into force, although the time of day was set back by an hour', async () => {
    const put = (id: string, unitMicros: bigint, since: string) =>
      test.database.query({
        text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
          values ($1, 'clocked', 'image', $2, 1, $3, 'test')`,
        values: [id, unitMicros, since],
      });
    const book = new PriceBook(test.database);
    const billing = { unit: 'image', variant: 'default', quantity: 1, settle: 'as-held' } as const;
    const unitMicros = async () => (await book.quote('clocked', billing)).unitMicros;
    await put('price_old', 5n, '2026-01-01');
    expect(await unitMicros()).toBe(5n);
    const setRight = skewClock(-3_600_000);
    try {
      await put('price_new', 7n, '2026-01-02');
      await eventually(async () => (await unitMicros()) === 7n, { pauseMs: 100 });
    } finally {
      setRight();
    }
  });

  it('is known without a word to the database while it is fresh', async () => {
    const book = new PriceBook(test.database);
    expect(book.known).toBeUndefined();
    await book.inForce();
    expect(book.known).toBe(await book.inForce());
  });

  it('stays the same object while nothing of it changes, so that what was made of it is not made again', async () => {
    const book = new PriceBook(test.database);
    const first = await book.inForce();
    const again = () => eventually(async () => (await book.reread()) !== first, { limitMs: 200, pauseMs: 30 });
    await expect(again()).rejects.toThrow();
    await test.database.query({
      text: `insert into price_list (id, name, created_by) values ('l', 'l', 'test')`,
    });
    await test.database.query({
      text: `insert into price_list_rule (id, list_id, model, factor_millionths, effective_from, created_by)
        values ('r', 'l', '*', 900000, '2026-01-01', 'test')`,
    });
    await eventually(async () => (await book.reread()) !== first, { pauseMs: 30 });
  });

  it.each([10, 10_000_000, Number.MAX_SAFE_INTEGER])(
    'is refused where %d of them cost more than any balance can hold',
    async (quantity) => {
      await expect(quote(quantity)).rejects.toMatchObject({ code: 'invalid_parameter' });
    },
  );
});
