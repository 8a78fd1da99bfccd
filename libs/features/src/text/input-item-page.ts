import { GatewayError, type JsonObject } from '#contracts';
import type { Database } from '#platform';

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

/**
 * What a response was made from: its own input, and in front of it what earlier responses of the conversation were asked
 * and answered, as far as it is still stored. Items are numbered where they are stored, so that only one page of them
 * travels. An item without an id, or with one that an earlier item has, is given one that stays the same.
 */
const FIND_PAGE = `
with recursive chain as (
  select id, previous_response_id, size_bytes, 1 as depth
  from text_response where account_id = $1 and id = $2 and expires_at > now()
  union all
  select earlier.id, earlier.previous_response_id, earlier.size_bytes, chain.depth + 1
  from chain join text_response earlier on earlier.account_id = $1 and earlier.id = chain.previous_response_id
    and earlier.expires_at > now()
  where chain.depth < $3
), head as (
  select count(*) > 0 as is_found, coalesce(sum(size_bytes), 0) > $4 as too_large from chain
), stored as (
  select chain.id, chain.depth, response.input_items,
    case when chain.depth > 1 and jsonb_typeof(response.response -> 'output') = 'array'
      then response.response -> 'output' else '[]' end as output
  from head join chain on not head.too_large
  join text_response response on response.account_id = $1 and response.id = chain.id
), told as (
  select stored.id as response_id, depth, 0 as part, place, item
  from stored cross join jsonb_array_elements(input_items) with ordinality as input (item, place)
  union all
  select stored.id, depth, 1, place, item
  from stored cross join jsonb_array_elements(output) with ordinality as answer (item, place)
), named as (
  select item, row_number() over (order by depth desc, part, place) as place,
    case when row_number() over (partition by item ->> 'id' order by depth desc, part, place) = 1 then item ->> 'id' end as own_id,
    'item_' || md5(concat_ws(':', response_id, part, place)) as given_id
  from told where jsonb_typeof(item) = 'object'
), placed as (
  select coalesce(own_id, given_id) as id, item, case when $5 then -place else place end as place from named
), page as (
  select id, item, place from placed
  where $6::text is null or place > (select place from placed where id = $6)
  order by place limit $7
)
select head.is_found, head.too_large, $6::text is null or exists (select from placed where id = $6) as knows_after,
  page.id, page.item
from head left join page on true order by page.place`;

interface PageRow {
  readonly is_found: boolean;
  readonly too_large: boolean;
  readonly knows_after: boolean;
  /** Null in the one row of an empty page. */
  readonly id: string | null;
  readonly item: JsonObject;
}

/**
 * One page of what a response was made from.
 *
 * @param bounds how many responses are followed back, and how many bytes they may hold together.
 * @throws GatewayError `not_found` for a response the account does not have, `invalid_parameter` for an unknown `after`,
 * `request_too_large`.
 */
export async function findInputItems(
  database: Database,
  { accountId, responseId }: { readonly accountId: string; readonly responseId: string },
  { limit, order, after }: InputItemQuery,
  bounds: { readonly responses: number; readonly bytes: number },
): Promise<InputItemPage> {
  const { rows } = await database.query<PageRow>({
    name: 'text_input_items',
    text: FIND_PAGE,
    values: [accountId, responseId, bounds.responses, bounds.bytes, order === 'desc', after ?? null, limit + 1],
  });
  const [head] = rows;
  if (!head?.is_found) throw new GatewayError('not_found', `There is no stored response "${responseId}".`);
  if (head.too_large)
    throw new GatewayError('request_too_large', `The conversation holds more than ${bounds.bytes} bytes.`);
  if (!head.knows_after)
    throw new GatewayError('invalid_parameter', `after: the response was made from no item "${after}".`, {
      param: 'after',
    });
  const items = rows.flatMap(({ id, item }) => (id === null ? [] : [{ id, item }]));
  return { items: items.slice(0, limit), hasMore: items.length > limit };
}
