import { createTestDatabase, type TestDatabase } from '#testing';
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

  it.each([10, 10_000_000, Number.MAX_SAFE_INTEGER])(
    'is refused where %d of them cost more than any balance holds, before the books meet such a number',
    async (quantity) => {
      await expect(quote(quantity)).rejects.toMatchObject({ code: 'invalid_parameter' });
    },
  );
});
