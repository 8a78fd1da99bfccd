import { Injectable } from '@nestjs/common';
import { GatewayError, isIdentifier, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { Database } from '#platform';
import { storableJson } from './storable-json.js';

/** How long responses can be referred to. */
const KEPT_DAYS = 30;

/** The longest conversation that is followed back, in responses. */
const MAX_CHAIN = 1_000;

/** The most that the references of one request may stand for, in bytes: no more than a request itself may hold. */
const MAX_REFERENCED_BYTES = 64 * 1024 * 1024;

/** Adds up sizes first: what is too large is not read. */
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
select chain.previous_response_id, total.size_bytes > $4 as too_large, stored.response, stored.input_items
from chain cross join total
left join text_response stored on total.size_bytes <= $4 and stored.account_id = $1 and stored.id = chain.id
order by chain.depth desc`;

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
left join text_item stored on total.size_bytes <= $3 and stored.account_id = $1 and stored.id = found.id`;

const FIND_RESPONSE = `
select response from text_response where account_id = $1 and id = $2 and expires_at > now()`;

/** Response and items in one statement; repeating it changes nothing. */
const SAVE = `
with saved as (
  insert into text_response (account_id, id, previous_response_id, response, input_items, size_bytes, expires_at)
  values ($1, $2, $3, $4::text::jsonb, $5::text::jsonb, octet_length($4::text) + octet_length($5::text), now() + make_interval(days => $8))
  on conflict (account_id, id) do nothing
)
, stored as (
  select case when jsonb_typeof($4::text::jsonb -> 'output') = 'array' then $4::text::jsonb -> 'output' else '[]' end
    || $5::text::jsonb as items
)
insert into text_item (account_id, id, response_id, item, size_bytes, expires_at)
select $1, kept.id, $2, stored.items -> kept.place, octet_length((stored.items -> kept.place)::text),
  now() + make_interval(days => $8)
from stored cross join unnest($6::text[], $7::integer[]) as kept (id, place)
on conflict (account_id, id) do nothing`;

interface ChainRow {
  readonly too_large: boolean;
  readonly previous_response_id: string | null;
  readonly response: JsonObject;
  readonly input_items: readonly JsonValue[];
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
      values: [accountId, responseId, MAX_CHAIN, MAX_REFERENCED_BYTES],
    });
    const [oldest] = rows;
    if (!oldest || oldest.previous_response_id !== null)
      throw new GatewayError('previous_response_not_found', `There is no stored response "${responseId}".`, {
        param: 'previous_response_id',
      });
    if (oldest.too_large) throw tooLarge('previous_response_id', 'the conversation');
    return rows.flatMap(({ input_items: input, response }) => [...input, ...outputOf(response)]);
  }

  /**
   * The stored items among these ids.
   *
   * @throws GatewayError `request_too_large`.
   */
  async items(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
    const { rows } = await this.#database.query<{ id: string; too_large: boolean; item: JsonObject }>({
      name: 'text_items',
      text: FIND_ITEMS,
      values: [accountId, ids, MAX_REFERENCED_BYTES],
    });
    if (rows[0]?.too_large) throw tooLarge('input', 'the items that are referred to');
    return new Map(rows.map(({ id, item }) => [id, item]));
  }

  /** @throws GatewayError `not_found` for an unknown response, a forgotten one, and one of another account. */
  async response(accountId: string, responseId: string): Promise<JsonObject> {
    if (!isIdentifier(responseId)) throw new GatewayError('not_found', 'No stored response can have this id.');
    const { rows } = await this.#database.query<{ response: JsonObject }>({
      name: 'text_response',
      text: FIND_RESPONSE,
      values: [accountId, responseId],
    });
    if (!rows[0]) throw new GatewayError('not_found', `There is no stored response "${responseId}".`);
    return rows[0].response;
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

const tooLarge = (param: string, what: string): GatewayError =>
  new GatewayError(
    'request_too_large',
    `${param}: ${what} may hold at most ${MAX_REFERENCED_BYTES} bytes; send what is needed of it in input.`,
    { param },
  );

function outputOf(response: JsonObject): readonly JsonValue[] {
  const { output } = response;
  return Array.isArray(output) ? (output as readonly JsonValue[]) : [];
}
