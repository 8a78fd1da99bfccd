import { LEDGER_KINDS } from '#contracts';
import { createTestDatabase, type TestDatabase } from '#testing';

const WORD = /\w+/g;

describe('The kinds of ledger entries', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  const conditionOf = async (constraint: string): Promise<string> => {
    const text = `select pg_get_expr(conbin, conrelid) as condition from pg_constraint where conname = $1`;
    const { rows } = await test.database.query<{ condition: string }>({ text, values: [constraint] });
    return rows[0]?.condition ?? 'false';
  };

  it('and their books match the constraint of the database', async () => {
    const condition = await conditionOf('ledger_books_fit_kind');
    // Every word of the condition, as a kind and as a book: none that the database allows is left out.
    const words = [...new Set(condition.match(WORD))];
    const text = `select distinct kind, debit, credit from unnest($1::text[]) as k(kind), unnest($1::text[]) as d(debit),
      unnest($1::text[]) as c(credit) where ${condition}`;
    const { rows } = await test.database.query<Record<'kind' | 'debit' | 'credit', string>>({ text, values: [words] });
    const allowed = rows.map(({ kind, debit, credit }) => `${kind}: ${debit} to ${credit}`);
    const listed = Object.entries(LEDGER_KINDS).flatMap(([kind, moves]) =>
      moves.map(([debit, credit]) => `${kind}: ${debit} to ${credit}`),
    );
    expect(allowed.toSorted()).toEqual(listed.toSorted());
  });
});
