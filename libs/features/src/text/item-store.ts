import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, isIdentifier, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import {
  Batcher,
  type BatcherOptions,
  CONVERSATION_JSON,
  Database,
  type JsonBounds,
  jsonBytes,
  logger,
  LongText,
  REQUEST_WAIT_MS,
  type StatementRunner,
  wellFormedJson,
} from '#platform';
import { accountMark, markedProof } from '#providers';
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
  ROW_BYTES,
  SAVE,
} from './item-store-statements.js';
import { readLongJson, SHORT_JSON_BYTES } from './stored-json.js';

/**
 * A value as JSON that a database can hold: NUL and halves of surrogate pairs, which a model may write and no database
 * takes, become U+FFFD. As bytes, which the database client passes on as they are; a long one in pieces.
 *
 * @param json the same value as JSON, where that is at hand and was written by someone else.
 */
export function storableJson(value: unknown, json?: string): readonly Buffer[] | Promise<readonly Buffer[]> {
  // Others may escape any character, and only what we wrote is known to escape no more than it must.
  const isReady = json !== undefined && json.length < SHORT_JSON_BYTES && !json.includes(String.raw`\u`);
  return isReady ? [Buffer.from(json)] : jsonBytes(value, wellFormedJson);
}

/** A response as the statement takes it. */
interface SavedRow {
  readonly accountId: string;
  readonly json: readonly Buffer[];
  /** With what its rows take up. */
  readonly keptBytes: number;
}

const isLong = ({ keptBytes }: SavedRow): boolean => keptBytes > SHORT_JSON_BYTES;

/**
 * What is stored together: a statement for each response would cost more than the rest of a short request. Only what is short,
 * so that no account keeps the others waiting; and what finds no place here in time is stored alone. One statement at a time: it is on
 * no account's share of the database.
 */
const SAVES: BatcherOptions<SavedRow> = {
  maxItems: 64,
  maxRunsInFlight: 1,
  keyOf: ({ accountId }) => accountId,
  maxWaitMs: REQUEST_WAIT_MS,
  sizes: { of: ({ keptBytes }) => keptBytes, maxRun: SHORT_JSON_BYTES, maxWaiting: 64 * 1024 * 1024 },
};

/**
 * How long a statement waits for another that is writing the same response or item. One for several accounts gives up soon: what
 * is in its way is a matter of one of them. One for an account waits as long as it may run.
 */
const [LOCKED_TOGETHER, LOCKED_ALONE] = ['100ms', '0'];

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
  /** Who wrote it; null: an older version stored it. */
  readonly upstream: string | null;
  readonly vendor_account: string | null;
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
  /** The same as JSON, where it is at hand. */
  readonly json?: string | undefined;
  /** The items of this request alone, without those of earlier responses. */
  readonly inputItems: readonly JsonValue[];
  readonly previousResponseId: string | undefined;
  readonly writtenBy?: WrittenBy | undefined;
}

/** The upstream that wrote an answer, and its vendor account. */
export interface WrittenBy {
  readonly upstream: string;
  readonly account: string;
}

interface StoredConversation {
  /** Oldest first. A proof of reasoning says whose it is, where that is known. */
  readonly items: readonly JsonValue[];
  /** Who wrote the last response; undefined where that is not known. */
  readonly writtenBy: WrittenBy | undefined;
}

const log = logger('text');

/**
 * Remembers responses and their items, so that later requests can refer to them. Accounts do not see each other's. Each has as
 * much room as for its files; when it is full the oldest responses go before their time.
 */
@Injectable()
export class ItemStore {
  private readonly bytesMax: number;
  private readonly saves = new Batcher((rows: readonly SavedRow[]) => this.saveTogether(rows), SAVES);

  constructor(
    private readonly database: Database,
    @Inject(PLATFORM) { config }: Pick<Platform, 'config'>,
  ) {
    this.bytesMax = config.files.FILES_ACCOUNT_MB * 1024 * 1024;
  }

  /**
   * A conversation up to and with the response.
   *
   * @throws GatewayError `previous_response_not_found` when the response, or one before it, is unknown or forgotten;
   * `request_too_large`; what `reserve` throws.
   */
  async conversation(accountId: string, responseId: string, reserve: ReserveMemory): Promise<StoredConversation> {
    const { rows } = await this.database.of(accountId).query<ChainRow>({
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
    const writtenBy = writerOf(rows.at(-1));
    if (oldest.response) {
      const items = rows.flatMap((row) => [...(row.input_items ?? []), ...withWriter(outputOf(row.response), row)]);
      return { items, writtenBy };
    }
    reserve(oldest.bytes);
    const ids = rows.map(({ id }) => id);
    const parts = await readLongJson(this.database.of(accountId), LONG_CHAIN, [accountId, ids]).catch(
      (error: unknown) => {
        throw tooMuchStructure(error, 'previous_response_id', 'the conversation');
      },
    );
    const lists = parts as readonly (readonly JsonValue[])[];
    const items = rows.flatMap((row, place) => [
      ...(lists[2 * place] ?? []),
      ...withWriter(lists[2 * place + 1] ?? [], row),
    ]);
    return { items, writtenBy };
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
    const { rows } = await this.database.of(accountId).query<FoundItem>({
      name: 'text_items',
      text: FIND_ITEMS,
      values: [accountId, ids, MAX_REFERENCED_BYTES, SHORT_JSON_BYTES, MAX_OPENED_BYTES],
    });
    const [first] = rows;
    if (first?.too_large) throw tooLarge('input', 'the items that are referred to');
    if (first?.too_wide) throw tooLarge('input', 'the responses whose items are referred to', MAX_OPENED_BYTES);
    reserve(first?.bytes ?? 0);
    const found = await this.withLongItems(accountId, rows);
    const values = ids.reduce((sum, id) => sum + (found.get(id)?.values ?? 0), 0);
    if (values > CONVERSATION_JSON.maxValues) throw tooMany('input', 'the items that are referred to');
    return new Map([...found].map(([id, { item }]) => [id, item]));
  }

  /** @throws GatewayError `not_found` for an unknown response, a forgotten one, and one of another account; what `reserve` throws. */
  async response(accountId: string, responseId: string, reserve: ReserveMemory): Promise<JsonObject> {
    expectIdentifier(responseId);
    const { rows } = await this.database.of(accountId).query<{ bytes: number; response: JsonObject | null }>({
      name: 'text_response',
      text: FIND_RESPONSE,
      values: [accountId, responseId, SHORT_JSON_BYTES],
    });
    if (!rows[0]) throw notFound(responseId);
    if (rows[0].response) return rows[0].response;
    reserve(rows[0].bytes);
    const [response] = await readLongJson(
      this.database.of(accountId),
      LONG_RESPONSE,
      [accountId, responseId],
      UNBOUNDED,
    );
    return response as JsonObject;
  }

  /** An item that is referred to several times stands several times in the request: its values count as often. */
  private async withLongItems(
    accountId: string,
    rows: readonly FoundItem[],
  ): Promise<ReadonlyMap<string, { readonly item: JsonObject; readonly values: number }>> {
    const isLong = rows.some(({ item }) => item === null);
    const ids = rows.map(({ id }) => id);
    const asked = [accountId, ids, rows.map((row) => row.response_id), rows.map(({ place }) => place)];
    const items = isLong
      ? await readLongJson(this.database.of(accountId), LONG_ITEMS, asked).catch((error: unknown) => {
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
    return findInputItems(this.database.of(accountId), { accountId, responseId, reserve }, query, bounds);
  }

  /**
   * Forgets a response and its items: at once for every reader, and from the disk in pieces, of which what a stop leaves goes
   * when it expires. Responses that continue it stay, but cannot be continued any more.
   *
   * @throws GatewayError `not_found`.
   */
  async remove(accountId: string, responseId: string): Promise<void> {
    expectIdentifier(responseId);
    const database = this.database.of(accountId);
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

  /**
   * Resolves when it is stored: together with what others store at the same time where it is short, and otherwise, or when that
   * fails for whatever reason, alone in the account's share of the database.
   */
  async save(stored: StoredResponse): Promise<void> {
    const { accountId, apiKeyId, response, json, inputItems, previousResponseId, writtenBy } = stored;
    const items = [...outputOf(response), ...inputItems].flatMap((item, place) =>
      isJsonObject(item) && isIdentifier(item['id']) ? [{ id: item['id'], place }] : [],
    );
    const [answer, asked] = await Promise.all([storableJson(response, json), storableJson(inputItems)]);
    const sizeBytes = lengthOf(answer) + lengthOf(asked);
    const keptBytes = sizeBytes + ROW_BYTES * (1 + items.length);
    const facts = {
      account_id: accountId,
      id: response['id'],
      previous_response_id: previousResponseId,
      api_key_id: apiKeyId,
      size_bytes: sizeBytes,
      kept_bytes: keptBytes,
      upstream: writtenBy?.upstream,
      vendor_account: writtenBy?.account,
      items,
    };
    const front = Buffer.from(`${JSON.stringify(facts).slice(0, -1)},"response":`);
    const row = { accountId, keptBytes, json: [front, ...answer, INPUT_ITEMS, ...asked, ROW_END] };
    const beyond = isLong(row) ? await this.saveAlone(row) : await this.saves.add(row).catch(() => this.saveAlone(row));
    if (beyond > 0)
      await this.forgetOldest(accountId, response['id'], beyond).catch((error: unknown) =>
        log.warn('responses.kept', { accountId, error }),
      );
  }

  private async saveTogether(rows: readonly SavedRow[]): Promise<readonly number[]> {
    try {
      return await this.insert(this.database, rows, LOCKED_TOGETHER);
    } catch (error) {
      // What the database says of a row may quote it.
      log.warn('responses.stored_apart', { responses: rows.length, code: (error as { code?: unknown }).code });
      throw error;
    }
  }

  private async saveAlone(row: SavedRow): Promise<number> {
    const [beyond = 0] = await this.insert(this.database.of(row.accountId), [row], LOCKED_ALONE);
    return beyond;
  }

  /** Answers by row how many bytes its account has stored beyond its room; of several rows of an account the first one says it. */
  private async insert(
    database: StatementRunner,
    rows: readonly SavedRow[],
    lockWait: string,
  ): Promise<readonly number[]> {
    const pieces = rows.flatMap(({ json }, index) => [index === 0 ? LIST_BEGIN : COMMA, ...json]);
    pieces.push(LIST_END);
    const hasLong = rows.some(isLong);
    const { rows: accounts } = await database.query<{ account_id: string; bytes: number }>({
      name: 'text_save',
      text: SAVE,
      ...(hasLong && { limit: 'long' }),
      values: [hasLong ? new LongText(pieces) : Buffer.concat(pieces), KEPT_DAYS, lockWait],
    });
    const stored = new Map(accounts.map(({ account_id: accountId, bytes }) => [accountId, bytes]));
    return rows.map(({ accountId }) => {
      const bytes = stored.get(accountId) ?? 0;
      stored.delete(accountId);
      return Math.max(0, bytes - this.bytesMax);
    });
  }

  /** What fails or takes too long is done after the next response that the account stores. */
  private async forgetOldest(accountId: string, stays: unknown, bytes: number): Promise<void> {
    const began = performance.now();
    for (let left = bytes; left > 0 && performance.now() - began < MAKING_ROOM_MS;) {
      const { rows } = await this.database.of(accountId).query<{ freed: number }>({
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

const [LIST_BEGIN, COMMA, LIST_END] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
const [INPUT_ITEMS, ROW_END] = [Buffer.from(',"input_items":'), Buffer.from('}')];

const lengthOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

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

const writerOf = (row: ChainRow | undefined): WrittenBy | undefined =>
  row?.upstream == null || row.vendor_account === null
    ? undefined
    : { upstream: row.upstream, account: row.vendor_account };

/** What a response says, each proof of reasoning that came through unmarked with the mark of the account that made it. */
function withWriter(output: readonly JsonValue[], { vendor_account: account }: ChainRow): readonly JsonValue[] {
  if (account === null) return output;
  return output.map((item) => {
    if (!isJsonObject(item) || item['type'] !== 'reasoning') return item;
    const { encrypted_content: proof } = item;
    const isUnmarked = typeof proof === 'string' && proof !== '' && !markedProof(proof);
    return isUnmarked ? { ...item, encrypted_content: `responses@${accountMark(account)}:${proof}` } : item;
  });
}

function outputOf(response: JsonObject | null): readonly JsonValue[] {
  const output = response?.['output'];
  return Array.isArray(output) ? (output as readonly JsonValue[]) : [];
}
