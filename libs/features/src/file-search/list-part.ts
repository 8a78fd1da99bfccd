import type { StatementRunner } from '#platform';

/** Which part of a list of the widely used interface. */
export interface ListQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Continues after the item of this id. */
  readonly after: string | undefined;
  /** Ends in front of the thing of this id. */
  readonly before?: string | undefined;
}

export interface ListPart<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** What is listed. Ids are in the order of time. */
interface Listed {
  /** Ends in a condition that others can be added to. */
  readonly select: string;
  readonly values: readonly unknown[];
  /** The column of the ids. */
  readonly key: string;
  readonly query: ListQuery;
}

/** Reads one row too far, to know whether there are more. */
export async function listPart<Item extends object>(
  database: StatementRunner,
  { select, values, key, query: { limit, order, after, before } }: Listed,
): Promise<ListPart<Item>> {
  const [behind, infront] = order === 'asc' ? ['>', '<'] : ['<', '>'];
  const next = values.length + 1;
  const { rows } = await database.query<Item>({
    text: `${select} and ($${next}::text is null or ${key} ${behind} $${next})
      and ($${next + 1}::text is null or ${key} ${infront} $${next + 1}) order by ${key} ${order} limit $${next + 2}`,
    values: [...values, after ?? null, before ?? null, limit + 1],
  });
  return { items: rows.slice(0, limit), hasMore: rows.length > limit };
}
