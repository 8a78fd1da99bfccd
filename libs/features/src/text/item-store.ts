import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, isIdentifier, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { CONVERSATION_JSON, Database, type JsonBounds, jsonBytes, logger, LongText, wellFormedJson } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import type { ReserveMemory } from '../limits/reserve-memory.js';
import { findInputItems, type InputItemPage, type InputItemQuery } from './input-item-page.js';
import {
  FIND_CHAIN,
  FIND_ITEMS,
  FIND_RESPONSE,
  FORGET_OLDEST,
  HIDE,
  LONG_CHAIN,
  LONG_ITEMS,
  LONG_RESPONSE,
  REMOVE_ITEMS,
  REMOVE_PLACES,
  REMOVE_RESPONSE,
  REMOVED_AT_ONCE,
  SAVE,
} from './item-store-statements.js';
import { readLongJson, SHORT_JSON_BYTES } from './stored-json.js';

/**
 * A value as JSON that a database can hold: NUL and halves of surrogate pairs, which a model may write and no database
 * takes, become U+FFFD. As bytes, which the database client passes on as they are; a long one in pieces.
 */
export async function storableJson(value: unknown): Promise<Buffer | LongText> {
  const pieces = await jsonBytes(value, wellFormedJson);
  return pieces.length === 1 && pieces[0] ? pieces[0] : new LongText(pieces);
}

/** How long responses can be referred to. */
const KEPT_DAYS = 30;

/** How long one response that is stored makes room for itself, in milliseconds; the next one goes on. */
const MAKING_ROOM_MS = 20_000;

/** The longest conversation that is followed back, in responses. */
const MAX_CHAIN = 1_000;

/** The most that the references of one request may stand for, in bytes: no more than a request itself may hold. */
const MAX_REFERENCED_BYTES = 64 * 1024 * 1024;

/** The most that the responses may hold in which the items of one request are found, in bytes. */
const MAX_OPENED_BYTES = 4 * MAX_REFERENCED_BYTES;

/** A response is bounded by what its upstream may answer. */
const UNBOUNDED: JsonBounds = { maxValues: Number.POSITIVE_INFINITY, maxKeys: Number.POSITIVE_INFINITY };

interface ChainRow {
  readonly id: string;
  readonly too_large: boolean;
  /** Of the whole conversation. */
  readonly bytes: number;
  readonly previous_response_id: string | null;
  /** Null when the conversation is long. */
  readonly response: JsonObject | null;
  readonly input_items: readonly JsonValue[] | null;
}

interface FoundItem {
  readonly id: string;
  readonly response_id: string;
  /** In its response; null: it has a row of its own. */
  readonly place: number | null;
  readonly too_large: boolean;
  /** Too much would have to be looked through to find them. */
  readonly too_wide: boolean;
  /** Of all that were asked for. */
  readonly bytes: number;
  /** Null when they are long together. */
  readonly item: JsonObject | null;
}

/** A response on its way into the store. */
export interface StoredResponse {
  readonly accountId: string;
  /** The key that is charged for storing it. */
  readonly apiKeyId: string;
  /** The native response object. */
  readonly response: JsonObject;
  /** The items of this request alone, without those of earlier responses. */
  readonly inputItems: readonly JsonValue[];
  readonly previousResponseId: string | undefined;
}

const log = logger('text');

/**
 * Remembers responses and their items, so that later requests can refer to them. Accounts do not see each other's. Each has as
 * much room as for its files; when it is full the oldest responses go before their time.
 */
@Injectable()
export class ItemStore {
  readonly #database: Database;
  readonly #bytesMax: number;

  constructor(database: Database, @Inject(PLATFORM) { config }: Pick<Platform, 'config'>) {
    this.#database = database;
    this.#bytesMax = config.files.FILES_ACCOUNT_MB * 1024 * 1024;
  }

  /**
   * Every item of a conversation up to and with the response, oldest first.
   *
   * @throws GatewayError `previous_response_not_found` when the response, or one before it, is unknown or forgotten;
   * `request_too_large`; what `reserve` throws.
   */
  async conversation(accountId: string, responseId: string, reserve: ReserveMemory): Promise<readonly JsonValue[]> {
    const { rows } = await this.#database.of(accountId).query<ChainRow>({
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
    reserve(oldest.bytes);
    const ids = rows.map(({ id }) => id);
    const parts = await readLongJson(this.#database.of(accountId), LONG_CHAIN, [accountId, ids]).catch(
      (error: unknown) => {
        throw tooMuchStructure(error, 'previous_response_id', 'the conversation');
      },
    );
    return (parts as readonly (readonly JsonValue[])[]).flat();
  }

  /**
   * The stored items among these ids.
   *
   * @throws GatewayError `request_too_large`; what `reserve` throws.
   */
  async items(
    accountId: string,
    ids: readonly string[],
    reserve: ReserveMemory,
  ): Promise<ReadonlyMap<string, JsonObject>> {
    const { rows } = await this.#database.of(accountId).query<FoundItem>({
      name: 'text_items',
      text: FIND_ITEMS,
      values: [accountId, ids, MAX_REFERENCED_BYTES, SHORT_JSON_BYTES, MAX_OPENED_BYTES],
    });
    const [first] = rows;
    if (first?.too_large) throw tooLarge('input', 'the items that are referred to');
    if (first?.too_wide) throw tooLarge('input', 'the responses whose items are referred to', MAX_OPENED_BYTES);
    reserve(first?.bytes ?? 0);
    const found = await this.#withLongItems(accountId, rows);
    const values = ids.reduce((sum, id) => sum + (found.get(id)?.values ?? 0), 0);
    if (values > CONVERSATION_JSON.maxValues) throw tooMany('input', 'the items that are referred to');
    return new Map([...found].map(([id, { item }]) => [id, item]));
  }

  /** @throws GatewayError `not_found` for an unknown response, a forgotten one, and one of another account; what `reserve` throws. */
  async response(accountId: string, responseId: string, reserve: ReserveMemory): Promise<JsonObject> {
    expectIdentifier(responseId);
    const { rows } = await this.#database.of(accountId).query<{ bytes: number; response: JsonObject | null }>({
      name: 'text_response',
      text: FIND_RESPONSE,
      values: [accountId, responseId, SHORT_JSON_BYTES],
    });
    if (!rows[0]) throw notFound(responseId);
    if (rows[0].response) return rows[0].response;
    reserve(rows[0].bytes);
    const [response] = await readLongJson(
      this.#database.of(accountId),
      LONG_RESPONSE,
      [accountId, responseId],
      UNBOUNDED,
    );
    return response as JsonObject;
  }

  /** An item that is referred to several times stands several times in the request: its values count as often. */
  async #withLongItems(
    accountId: string,
    rows: readonly FoundItem[],
  ): Promise<ReadonlyMap<string, { readonly item: JsonObject; readonly values: number }>> {
    const isLong = rows.some(({ item }) => item === null);
    const ids = rows.map(({ id }) => id);
    const asked = [accountId, ids, rows.map((row) => row.response_id), rows.map(({ place }) => place)];
    const items = isLong
      ? await readLongJson(this.#database.of(accountId), LONG_ITEMS, asked).catch((error: unknown) => {
          throw tooMuchStructure(error, 'input', 'the items that are referred to');
        })
      : rows.map(({ item }) => item);
    if (items.length !== ids.length)
      throw new GatewayError('item_not_found', 'A stored item that the input refers to was removed meanwhile.', {
        param: 'input',
      });
    return new Map(ids.map((id, index) => [id, { item: items[index] as JsonObject, values: valuesIn(items[index]) }]));
  }

  /**
   * One page of what the response was made from.
   *
   * @throws GatewayError `not_found`, `invalid_parameter` for an unknown `after`, `request_too_large`; what `reserve` throws.
   */
  async inputItems(
    accountId: string,
    responseId: string,
    query: InputItemQuery,
    reserve: ReserveMemory,
  ): Promise<InputItemPage> {
    expectIdentifier(responseId);
    const bounds = { responses: MAX_CHAIN, bytes: MAX_REFERENCED_BYTES };
    return findInputItems(this.#database.of(accountId), { accountId, responseId, reserve }, query, bounds);
  }

  /**
   * Forgets a response and its items: at once for every reader, and from the disk in pieces, of which what a stop leaves goes
   * when it expires. Responses that continue it stay, but cannot be continued any more.
   *
   * @throws GatewayError `not_found`.
   */
  async remove(accountId: string, responseId: string): Promise<void> {
    expectIdentifier(responseId);
    const database = this.#database.of(accountId);
    const { rows } = await database.query<{ items: readonly string[] }>({
      name: 'text_hide',
      text: HIDE,
      values: [accountId, responseId],
    });
    if (!rows[0]) throw notFound(responseId);
    const { items } = rows[0];
    for (let first = 0; first < items.length; first += REMOVED_AT_ONCE) {
      const some = items.slice(first, first + REMOVED_AT_ONCE);
      await database.query({ name: 'text_remove_items', text: REMOVE_ITEMS, values: [accountId, responseId, some] });
    }
    for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE;) {
      const values = [accountId, responseId, REMOVED_AT_ONCE];
      removed = (await database.query({ name: 'text_remove_places', text: REMOVE_PLACES, values })).rows.length;
    }
    await database.query({ name: 'text_remove_response', text: REMOVE_RESPONSE, values: [accountId, responseId] });
  }

  async save({ accountId, apiKeyId, response, inputItems, previousResponseId }: StoredResponse): Promise<void> {
    const items = [...outputOf(response), ...inputItems].flatMap((item, place) =>
      isJsonObject(item) && isIdentifier(item['id']) ? [{ id: item['id'], place }] : [],
    );
    const [answer, asked] = [await storableJson(response), await storableJson(inputItems)];
    const isLong = answer instanceof LongText || asked instanceof LongText;
    const { rows } = await this.#database.of(accountId).query<{ before: number; added: number }>({
      name: 'text_save',
      text: SAVE,
      ...(isLong && { limit: 'long' }),
      values: [
        accountId,
        response['id'],
        previousResponseId ?? null,
        answer,
        asked,
        items.map(({ id }) => id),
        items.map(({ place }) => place),
        KEPT_DAYS,
        apiKeyId,
      ],
    });
    const { before = 0, added = 0 } = rows[0] ?? {};
    if (before + added > this.#bytesMax)
      await this.#forgetOldest(accountId, response['id'], before + added - this.#bytesMax).catch((error: unknown) =>
        log.warn('responses.kept', { accountId, error }),
      );
  }

  /** What fails or takes too long is done after the next response that the account stores. */
  async #forgetOldest(accountId: string, stays: unknown, bytes: number): Promise<void> {
    const began = performance.now();
    for (let left = bytes; left > 0 && performance.now() - began < MAKING_ROOM_MS;) {
      const { rows } = await this.#database.of(accountId).query<{ freed: number }>({
        text: FORGET_OLDEST,
        values: [accountId, stays, left],
        limit: 'long',
      });
      const freed = rows[0]?.freed ?? 0;
      if (freed === 0) return;
      left -= freed;
    }
  }
}

const notFound = (responseId: string): GatewayError =>
  new GatewayError('not_found', `There is no stored response "${responseId}".`);

function expectIdentifier(responseId: string): void {
  if (!isIdentifier(responseId)) throw new GatewayError('not_found', 'No stored response can have this id.');
}

/** The error for an incomplete conversation: the response is unknown, or one before it was deleted or expired. */
const missingOf = (responseId: string, earlier: string | null | undefined): string =>
  earlier
    ? `The response "${responseId}" went on from "${earlier}", which is not stored any more.`
    : `There is no stored response "${responseId}".`;

const tooLarge = (param: string, what: string, bytes = MAX_REFERENCED_BYTES): GatewayError =>
  new GatewayError(
    'request_too_large',
    `${param}: ${what} may hold at most ${bytes} bytes; send what is needed of it in input.`,
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
