import { GatewayError, type JsonObject } from '#contracts';
import type { StatementRunner } from '#platform';
import { CHAIN } from './item-store-statements.js';
import type { ReserveMemory } from '../limits/reserve-memory.js';
import { readLongJson, SHORT_JSON_BYTES } from './stored-json.js';

/** Which part of the items that a response was made from. */
export interface InputItemQuery {
  /** The most items of one page. */
  readonly limit: number;
  /** `desc`: the newest first. */
  readonly order: 'asc' | 'desc';
  /** The id of the last item of the page before; undefined for the first page. */
  readonly after: string | undefined;
}

/** An item of a conversation with an id that no other item of it has. */
export interface InputItem {
  readonly id: string;
  readonly item: JsonObject;
}

export interface InputItemPage {
  readonly items: readonly InputItem[];
  readonly hasMore: boolean;
}

/** The most that the items of one page hold together, in bytes; a longer item has a page of its own. */
const PAGE_BYTES = 1024 * 1024;

const FIND_SIZE = `${CHAIN}
select count(*) > 0 as is_found, coalesce(sum(size_bytes), 0)::text as bytes from chain`;

/**
 * What a response was made from: its own input, and in front of it what earlier responses of the conversation were asked
 * and answered, as far as it is still stored. Items are numbered where they are stored, so that only one page of them
 * travels. An item without an id, or with one that an earlier item has, is given one that stays the same.
 *
 * Besides those of the chain: $4 the newest first, $5 behind which item, $6 how many.
 */
const PAGE = `${CHAIN}, stored as (
  select chain.id, chain.depth, response.input_items,
    case when chain.depth > 1 and jsonb_typeof(response.response -> 'output') = 'array'
      then response.response -> 'output' else '[]' end as output
  from chain join text_response response on response.account_id = $1 and response.id = chain.id
), listed as (
  select stored.id as response_id, depth, 0 as part, place, item
  from stored cross join jsonb_array_elements(input_items) with ordinality as input (item, place)
  union all
  select stored.id, depth, 1, place, item
  from stored cross join jsonb_array_elements(output) with ordinality as answer (item, place)
), named as (
  select item, row_number() over (order by depth desc, part, place) as place,
    case when row_number() over (partition by item ->> 'id' order by depth desc, part, place) = 1 then item ->> 'id' end as own_id,
    'item_' || md5(concat_ws(':', response_id, part, place)) as given_id
  from listed where jsonb_typeof(item) = 'object'
), placed as (
  select coalesce(own_id, given_id) as id, item, case when $4 then -place else place end as place from named
), page as (
  select id, item, place from placed
  where $5::text is null or place > (select place from placed where id = $5)
  order by place limit $6
)`;

/** Items beyond what a page holds, and long ones, come without what they are. */
const FIND_PAGE = `${PAGE}, sized as (
  select id, item, place, octet_length(item::text) as bytes from page
), summed as (
  select *, sum(bytes) over (order by place) as bytes_until from sized
)
select $5::text is null or exists (select from placed where id = $5) as knows_after, id,
  case when bytes <= ${SHORT_JSON_BYTES} and bytes_until <= ${PAGE_BYTES} then item end as item
from (values (1)) as one left join summed on true order by place`;

const LONG_ITEM = `${PAGE} select 1, item from page`;

interface PageRow {
  readonly knows_after: boolean;
  /** Null in the one row of an empty page. */
  readonly id: string | null;
  readonly item: JsonObject | null;
}

/** Whose items are asked for. */
interface InputItemOwner {
  readonly accountId: string;
  readonly responseId: string;
  /** Reserves memory for the whole conversation: all of it is looked through, though one page of it travels. */
  readonly reserve: ReserveMemory;
}

/**
 * One page of what a response was made from: as many items as it holds, or one that is longer.
 *
 * @param bounds how many responses are followed back, and how many bytes they may hold together.
 * @throws GatewayError `not_found` for a response the account does not have, `invalid_parameter` for an unknown `after`,
 * `request_too_large`; what `reserve` throws.
 */
export async function findInputItems(
  database: StatementRunner,
  { accountId, responseId, reserve }: InputItemOwner,
  { limit, order, after }: InputItemQuery,
  bounds: { readonly responses: number; readonly bytes: number },
): Promise<InputItemPage> {
  const chain = [accountId, responseId, bounds.responses];
  const sizes = await database.query<{ is_found: boolean; bytes: string }>({
    name: 'text_input_size',
    text: FIND_SIZE,
    values: chain,
  });
  const [size] = sizes.rows;
  if (!size?.is_found) throw new GatewayError('not_found', `There is no stored response "${responseId}".`);
  if (Number(size.bytes) > bounds.bytes)
    throw new GatewayError('request_too_large', `The conversation holds more than ${bounds.bytes} bytes.`);
  const isLong = Number(size.bytes) > SHORT_JSON_BYTES;
  reserve(Number(size.bytes));
  const place = [order === 'desc', after ?? null];
  const { rows } = await database.query<PageRow>({
    name: 'text_input_items',
    text: FIND_PAGE,
    ...(isLong && { limit: 'long' }),
    values: [...chain, ...place, limit + 1],
  });
  if (!rows[0]?.knows_after)
    throw new GatewayError('invalid_parameter', `after: the response has no input item "${after}".`, {
      param: 'after',
    });
  const items = readyItems(rows).slice(0, limit);
  const [first] = rows;
  if (items.length > 0 || first.id === null) return { items, hasMore: rows.length > Math.max(1, items.length) };
  const [item] = await readLongJson(database, LONG_ITEM, [...chain, ...place, 1]);
  return { items: [{ id: first.id, item: item as JsonObject }], hasMore: rows.length > 1 };
}

/** Those before the first that is too long for the page. */
function readyItems(rows: readonly PageRow[]): InputItem[] {
  const ready: InputItem[] = [];
  for (const { id, item } of rows) {
    if (id === null || item === null) break;
    ready.push({ id, item });
  }
  return ready;
}
