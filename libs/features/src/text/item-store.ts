import { GatewayError, isIdentifier, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import type { Database } from '#platform';
import { storableJson } from './storable-json.js';

/** How long responses can be referred to. */
const KEPT_DAYS = 30;

/** The longest conversation that is followed back, in responses. */
const MAX_CHAIN = 1_000;

const FIND_CHAIN = `
with recursive chain as (
  select id, previous_response_id, response, input_items, 1 as depth
  from text_response where account_id = $1 and id = $2 and expires_at > now()
  union all
  select earlier.id, earlier.previous_response_id, earlier.response, earlier.input_items, chain.depth + 1
  from chain join text_response earlier on earlier.account_id = $1 and earlier.id = chain.previous_response_id
    and earlier.expires_at > now()
  where chain.depth < $3
)
select previous_response_id, response, input_items from chain order by depth desc`;

const FIND_ITEMS = `
select id, item from text_item where account_id = $1 and id = any($2) and expires_at > now()`;

const FIND_RESPONSE = `
select response from text_response where account_id = $1 and id = $2 and expires_at > now()`;

/** Response and items in one statement; repeating it changes nothing. */
const SAVE = `
with saved as (
  insert into text_response (account_id, id, previous_response_id, response, input_items, expires_at)
  values ($1, $2, $3, $4, $5, now() + make_interval(days => $8))
  on conflict (account_id, id) do nothing
)
insert into text_item (account_id, id, response_id, item, expires_at)
select $1, kept.id, $2, kept.item, now() + make_interval(days => $8)
from unnest($6::text[], $7::jsonb[]) as kept (id, item)
on conflict (account_id, id) do nothing`;

interface ChainRow {
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
export class ItemStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Every item of a conversation up to and with the response, oldest first.
   *
   * @throws GatewayError `previous_response_not_found` when the response, or one before it, is unknown or forgotten.
   */
  async conversation(accountId: string, responseId: string): Promise<readonly JsonValue[]> {
    const { rows } = await this.#database.query<ChainRow>({
      name: 'text_conversation',
      text: FIND_CHAIN,
      values: [accountId, responseId, MAX_CHAIN],
    });
    const [oldest] = rows;
    if (!oldest || oldest.previous_response_id !== null)
      throw new GatewayError('previous_response_not_found', `There is no stored response "${responseId}".`, {
        param: 'previous_response_id',
      });
    return rows.flatMap(({ input_items: input, response }) => [...input, ...outputOf(response)]);
  }

  /** The stored items among these ids. */
  async items(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
    const { rows } = await this.#database.query<{ id: string; item: JsonObject }>({
      name: 'text_items',
      text: FIND_ITEMS,
      values: [accountId, ids],
    });
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
    const items = [...outputOf(response), ...inputItems].flatMap((item) =>
      isJsonObject(item) && isIdentifier(item['id']) ? [{ id: item['id'], item: storableJson(item) }] : [],
    );
    await this.#database.query({
      name: 'text_save',
      text: SAVE,
      values: [
        accountId,
        response['id'],
        previousResponseId ?? null,
        storableJson(response),
        storableJson(inputItems),
        items.map(({ id }) => id),
        items.map(({ item }) => item),
        KEPT_DAYS,
      ],
    });
  }
}

function outputOf(response: JsonObject): readonly JsonValue[] {
  const { output } = response;
  return Array.isArray(output) ? (output as readonly JsonValue[]) : [];
}
