import { Injectable } from '@nestjs/common';
import { GatewayError, isIdentifier, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { Database, type JsonBounds } from '#platform';
import { findInputItems, type InputItemPage, type InputItemQuery } from './input-item-page.js';
import { CONVERSATION_JSON, readLongJson, SHORT_JSON_BYTES } from './stored-json.js';
import { storableJson } from './storable-json.js';

/** How long responses can be referred to. */
const KEPT_DAYS = 30;

/** The longest conversation that is followed back, in responses. */
const MAX_CHAIN = 1_000;

/** The most that the references of one request may stand for, in bytes: no more than a request itself may hold. */
const MAX_REFERENCED_BYTES = 64 * 1024 * 1024;

/** A response is bounded by what its upstream may answer. */
const UNBOUNDED: JsonBounds = { maxValues: Number.POSITIVE_INFINITY, maxKeys: Number.POSITIVE_INFINITY };

/** Adds up sizes first: what is too large is not read, and what is long not in one piece. */
const FIND_CHAIN = `
with recursive chain as (
  select id, previous_response_id, size_bytes, 1 as depth
  from text_response where account_id = $1 and id = $2 and expires_at > now()
  union all
  select earlier.id, earlier.previous_response_id, earlier.size_bytes, chain.depth + 1
  from chain join text_response earlier on earlier.account_id = $1 and earlier.id = chain.previous_response_id
    and earlier.expires_at > now()
  where chain.depth < $3
), total as (select sum(size_bytes) as size_bytes from chain)
select chain.id, chain.previous_response_id, total.size_bytes > $4 as too_large, stored.response, stored.input_items
from chain cross join total
left join text_response stored on total.size_bytes <= $5 and stored.account_id = $1 and stored.id = chain.id
order by chain.depth desc`;

/** $1 account, $2 ids, oldest first. Of each its input and its output. */
const LONG_CHAIN = `
select 2 * asked.nth + part.nth, part.items from unnest($2::text[]) with ordinality as asked (id, nth)
join text_response stored on stored.account_id = $1 and stored.id = asked.id
cross join lateral (values (0, input_items), (1, response -> 'output')) as part (nth, items)
where jsonb_typeof(part.items) = 'array'`;

/** An item that is referred to several times counts as often. */
const FIND_ITEMS = `
with asked as (
  select id, count(*) as times from unnest($2::text[]) as asked (id) group by id
), found as (
  select id, size_bytes * times as size_bytes from asked join text_item using (id)
  where account_id = $1 and expires_at > now()
), total as (select sum(size_bytes) as size_bytes from found)
select found.id, total.size_bytes > $3 as too_large, stored.item
from found cross join total
left join text_item stored on total.size_bytes <= $4 and stored.account_id = $1 and stored.id = found.id`;

/** $1 account, $2 ids. */
const LONG_ITEMS = `
select asked.nth, stored.item from unnest($2::text[]) with ordinality as asked (id, nth)
join text_item stored on stored.account_id = $1 and stored.id = asked.id`;

const FIND_RESPONSE = `
select case when size_bytes <= $3 then response end as response
from text_response where account_id = $1 and id = $2 and expires_at > now()`;

/** $1 account, $2 id. */
const LONG_RESPONSE = `select 1, response from text_response where account_id = $1 and id = $2`;

/** A response and its items, which are found by the ids that it names. */
const REMOVE = `
with gone as (
  delete from text_response where account_id = $1 and id = $2 and expires_at > now() returning id, response, input_items
), named as (
  select item ->> 'id' as id
  from gone cross join jsonb_array_elements(
    case when jsonb_typeof(response -> 'output') = 'array' then response -> 'output' else '[]' end || input_items) as item
), items as (
  delete from text_item where account_id = $1 and response_id = $2 and id in (select id from named)
)
select id from gone`;

/** Response and items in one statement; repeating it changes nothing. */
const SAVE = `
with given as materialized (
  select $4::text::jsonb as response, $5::text::jsonb as input_items
), saved as (
  insert into text_response (account_id, id, previous_response_id, response, input_items, size_bytes, expires_at)
  select $1, $2, $3, response, input_items, octet_length($4::text) + octet_length($5::text), now() + make_interval(days => $8)
  from given
  on conflict (account_id, id) do nothing
), stored as materialized (
  select case when jsonb_typeof(response -> 'output') = 'array' then response -> 'output' else '[]' end
    || input_items as items
  from given
)
insert into text_item (account_id, id, response_id, item, size_bytes, expires_at)
select $1, kept.id, $2, stored.items -> kept.place, octet_length((stored.items -> kept.place)::text),
  now() + make_interval(days => $8)
from stored cross join unnest($6::text[], $7::integer[]) as kept (id, place)
on conflict (account_id, id) do nothing`;

interface ChainRow {
  readonly id: string;
  readonly too_large: boolean;
  readonly previous_response_id: string | null;
  /** Null when the conversation is long. */
  readonly response: JsonObject | null;
  readonly input_items: readonly JsonValue[] | null;
}

/** A response on its way into the store. */
export interface StoredResponse {
  readonly accountId: string;
  /** The native response object. */
  readonly response: JsonObject;
  /** The items of this request alone, without those of earlier responses. */
  readonly inputItems: readonly JsonValue[];
  readonly previousResponseId: string | undefined;
}

/** Remembers responses and their items, so that later requests can refer to them. Accounts do not see each other's. */
@Injectable()
export class ItemStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Every item of a conversation up to and with the response, oldest first.
   *
   * @throws GatewayError `previous_response_not_found` when the response, or one before it, is unknown or forgotten;
   * `request_too_large`.
   */
  async conversation(accountId: string, responseId: string): Promise<readonly JsonValue[]> {
    const { rows } = await this.#database.query<ChainRow>({
      name: 'text_conversation',
      text: FIND_CHAIN,
      values: [accountId, responseId, MAX_CHAIN, MAX_REFERENCED_BYTES, SHORT_JSON_BYTES],
    });
    const [oldest] = rows;
    if (!oldest || oldest.previous_response_id !== null)
      throw new GatewayError('previous_response_not_found', missingOf(responseId, oldest?.previous_response_id), {
        param: 'previous_response_id',
      });
    if (oldest.too_large) throw tooLarge('previous_response_id', 'the conversation');
    if (oldest.response)
      return rows.flatMap(({ input_items: input, response }) => [...(input ?? []), ...outputOf(response)]);
    const ids = rows.map(({ id }) => id);
    const parts = await readLongJson(this.#database, LONG_CHAIN, [accountId, ids]).catch((error: unknown) => {
      throw tooMuchStructure(error, 'previous_response_id', 'the conversation');
    });
    return (parts as readonly (readonly JsonValue[])[]).flat();
  }

  /**
   * The stored items among these ids.
   *
   * @throws GatewayError `request_too_large`.
   */
  async items(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
    const { rows } = await this.#database.query<{ id: string; too_large: boolean; item: JsonObject | null }>({
      name: 'text_items',
      text: FIND_ITEMS,
      values: [accountId, ids, MAX_REFERENCED_BYTES, SHORT_JSON_BYTES],
    });
    if (rows[0]?.too_large) throw tooLarge('input', 'the items that are referred to');
    const found = await this.#withLongItems(accountId, rows);
    const values = ids.reduce((sum, id) => sum + (found.get(id)?.values ?? 0), 0);
    if (values > CONVERSATION_JSON.maxValues) throw tooMany('input', 'the items that are referred to');
    return new Map([...found].map(([id, { item }]) => [id, item]));
  }

  /** @throws GatewayError `not_found` for an unknown response, a forgotten one, and one of another account. */
  async response(accountId: string, responseId: string): Promise<JsonObject> {
    expectIdentifier(responseId);
    const { rows } = await this.#database.query<{ response: JsonObject | null }>({
      name: 'text_response',
      text: FIND_RESPONSE,
      values: [accountId, responseId, SHORT_JSON_BYTES],
    });
    if (!rows[0]) throw notFound(responseId);
    if (rows[0].response) return rows[0].response;
    const [response] = await readLongJson(this.#database, LONG_RESPONSE, [accountId, responseId], UNBOUNDED);
    return response as JsonObject;
  }

  /** An item that is referred to several times stands several times in the request: its values count as often. */
  async #withLongItems(
    accountId: string,
    rows: readonly { readonly id: string; readonly item: JsonObject | null }[],
  ): Promise<ReadonlyMap<string, { readonly item: JsonObject; readonly values: number }>> {
    const isLong = rows.some(({ item }) => item === null);
    const ids = rows.map(({ id }) => id);
    const items = isLong
      ? await readLongJson(this.#database, LONG_ITEMS, [accountId, ids]).catch((error: unknown) => {
          throw tooMuchStructure(error, 'input', 'the items that are referred to');
        })
      : rows.map(({ item }) => item);
    return new Map(ids.map((id, index) => [id, { item: items[index] as JsonObject, values: valuesIn(items[index]) }]));
  }

  /**
   * One page of what the response was made from.
   *
   * @throws GatewayError `not_found`, `invalid_parameter` for an unknown `after`, `request_too_large`.
   */
  async inputItems(accountId: string, responseId: string, query: InputItemQuery): Promise<InputItemPage> {
    expectIdentifier(responseId);
    const bounds = { responses: MAX_CHAIN, bytes: MAX_REFERENCED_BYTES };
    return findInputItems(this.#database, { accountId, responseId }, query, bounds);
  }

  /**
   * Forgets a response and its items. What went on from it stays, and cannot be gone on from any more.
   *
   * @throws GatewayError `not_found`.
   */
  async remove(accountId: string, responseId: string): Promise<void> {
    expectIdentifier(responseId);
    const { rowCount } = await this.#database.query({
      name: 'text_remove',
      text: REMOVE,
      values: [accountId, responseId],
    });
    if (rowCount === 0) throw notFound(responseId);
  }

  async save({ accountId, response, inputItems, previousResponseId }: StoredResponse): Promise<void> {
    // Items are taken out of the two texts where they arrive, so that a large one travels once.
    const items = [...outputOf(response), ...inputItems].flatMap((item, place) =>
      isJsonObject(item) && isIdentifier(item['id']) ? [{ id: item['id'], place }] : [],
    );
    await this.#database.query({
      name: 'text_save',
      text: SAVE,
      values: [
        accountId,
        response['id'],
        previousResponseId ?? null,
        await storableJson(response),
        await storableJson(inputItems),
        items.map(({ id }) => id),
        items.map(({ place }) => place),
        KEPT_DAYS,
      ],
    });
  }
}

const notFound = (responseId: string): GatewayError =>
  new GatewayError('not_found', `There is no stored response "${responseId}".`);

function expectIdentifier(responseId: string): void {
  if (!isIdentifier(responseId)) throw new GatewayError('not_found', 'No stored response can have this id.');
}

/** What is said of a conversation that is not whole: the response is unknown, or one before it was deleted or expired. */
const missingOf = (responseId: string, earlier: string | null | undefined): string =>
  earlier
    ? `The response "${responseId}" went on from "${earlier}", which is not stored any more.`
    : `There is no stored response "${responseId}".`;

const tooLarge = (param: string, what: string): GatewayError =>
  new GatewayError(
    'request_too_large',
    `${param}: ${what} may hold at most ${MAX_REFERENCED_BYTES} bytes; send what is needed of it in input.`,
    { param },
  );

const tooMany = (param: string, what: string): GatewayError =>
  new GatewayError(
    'request_too_large',
    `${param}: ${what} may hold at most ${CONVERSATION_JSON.maxValues} values and ${CONVERSATION_JSON.maxKeys} keys; send what is needed of it in input.`,
    { param },
  );

/** What was stored is no body, whose structure the words of the reader are about. */
const tooMuchStructure = (error: unknown, param: string, what: string): unknown =>
  error instanceof GatewayError && error.code === 'invalid_json' ? tooMany(param, what) : error;

/** Values within each other, this one included. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner: unknown) => sum + valuesIn(inner), 1);
}

function outputOf(response: JsonObject | null): readonly JsonValue[] {
  const output = response?.['output'];
  return Array.isArray(output) ? (output as readonly JsonValue[]) : [];
}
