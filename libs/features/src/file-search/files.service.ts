import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import type { MediaStore } from '#media';
import { Database, logger, timeOrderedId } from '#platform';
import { FAILPOINTS, type Failpoints, PLATFORM, type Platform } from '#runtime';
import { nothingLeft } from '../billing/ledger/payment-refusals.js';
import { PriceBook } from '../billing/prices/price-book.js';
import { STORAGE_MODEL, STORAGE_UNIT } from '../billing/prices/check-prices.js';
import {
  DEFAULT_CHUNKING,
  FILE_COLUMNS,
  FILE_IS_READY,
  METERED,
  SEARCHED_PURPOSES,
  type UploadedFile,
} from './uploaded-file.js';
import { type ListPart, listPart, type ListQuery } from './list-part.js';
import { forgetUnused } from './unused-indexes.js';

const log = logger('files');

const MIB = 1024 * 1024;

/** The most uploads of an account that are under way, or broke off and are not removed yet. */
const UNFINISHED_MAX = 64;

/** Bytes of an upload that never became ready are removed after so long, in minutes. */
const ABANDONED_MINUTES = 60;

const ROOM = `
select a.available_micros <= 0 and not a.unlimited as "isEmpty", coalesce(u.files, 0) as files, coalesce(u.bytes, 0) as bytes,
  rest.unfinished, rest.deleted
from account a left join file_usage u on u.account_id = a.id cross join lateral (
  select count(*) filter (where f.state = 'uploading') as unfinished,
    coalesce(sum(f.bytes) filter (where f.state = 'deleted'), 0)::bigint as deleted
  from uploaded_file f where f.account_id = a.id and f.state <> 'ready'
) as rest where a.id = $1`;

const BEGIN = `
insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state, expires_at)
values ($1, $2, $3, '', '', '', $4, 'uploading', now() + $5 * interval '1 minute')`;

const COUNT = `
insert into file_usage as u (account_id, files, bytes, api_key_id)
values ($1, 1, $2, (select api_key_id from uploaded_file where id = $3))
on conflict (account_id) do update set ${METERED}, files = u.files + 1, bytes = u.bytes + $2,
  api_key_id = excluded.api_key_id
returning files, bytes`;

const KEEP = `
update uploaded_file set state = 'ready', filename = $3, purpose = $4, content_type = $5, bytes = $6, sha256 = $7,
  created_at = now(), expires_at = now() + $8 * interval '1 second'
where id = $1 and account_id = $2 and state = 'uploading' and expires_at > now()
returning ${FILE_COLUMNS}`;

const INDEX = `
insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens) values ($1, $2, $3, $4)`;

const DISCARD = `
update uploaded_file set expires_at = now() where id = $1 and state = 'uploading' returning store_key as "storeKey"`;

/** What is noted once the bytes are gone: an upload leaves nothing else, a deleted file its passages. */
const FORGET_UPLOAD = `delete from uploaded_file where id = $1 and state = 'uploading'`;
const NOTE_NO_BYTES = `update uploaded_file set bytes = 0 where id = $1 and state = 'deleted'`;

const FIND = `select ${FILE_COLUMNS} from uploaded_file where id = $2 and account_id = $1 and ${FILE_IS_READY}`;

const REMOVE = `
with gone as (
  update uploaded_file set state = 'deleted', expires_at = now()
  where id = $2 and account_id = $1 and ${FILE_IS_READY} returning id, account_id, bytes, store_key
), counted as (
  update file_usage u set ${METERED}, files = u.files - 1, bytes = u.bytes - gone.bytes from gone where u.account_id = gone.account_id
)
select store_key as "storeKey" from gone`;

/** A statement of its own: the first may have waited for one that put the file into a vector store, which only this one sees. */
const REMOVE_ENTRIES = `delete from vector_store_file where file_id = $1`;

interface Room {
  readonly isEmpty: boolean;
  readonly files: bigint;
  readonly bytes: bigint;
  /** Uploads. */
  readonly unfinished: bigint;
  /** Bytes of deleted files that are still in the store. */
  readonly deleted: bigint;
}

/** An upload whose bytes are on their way. */
export interface BegunUpload {
  readonly id: string;
  readonly storeKey: string;
}

/** What is known of a file when its bytes are stored. */
export interface StoredUpload {
  readonly filename: string;
  readonly purpose: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** How long it is kept; null: as the settings say. */
  readonly expiresAfterSeconds: number | null;
}

export interface FileListQuery extends ListQuery {
  readonly purpose: string | undefined;
}

/** The files of accounts: a row first, then the bytes, then one statement that makes the file visible and counts it. */
@Injectable()
export class FilesService {
  private readonly settings: Platform['config']['files'];
  private readonly store: MediaStore;

  constructor(
    private readonly database: Database,
    @Inject(FAILPOINTS) private readonly failpoints: Failpoints,
    @Inject(PLATFORM) { config, store }: Pick<Platform, 'config' | 'store'>,
    private readonly prices: PriceBook,
  ) {
    this.settings = config.files;
    this.store = store;
  }

  /** The largest file, in bytes. */
  get maxBytes(): number {
    return this.settings.FILE_MAX_MB * MIB;
  }

  /**
   * Notes that bytes are coming.
   *
   * @throws GatewayError `request_too_large`: the account may keep no more files; `rate_limit_exceeded`: too many of its
   * uploads are under way, or what it deleted is still in the store; `insufficient_balance`: keeping one costs money, and it
   * has none.
   */
  async begin(
    { accountId, apiKeyId }: { accountId: string; apiKeyId: string },
    /** Of the name in the store, where links to the file are given out: `.png`. */
    extension = '',
  ): Promise<BegunUpload> {
    const database = this.database.of(accountId);
    const { rows } = await database.query<Room>({ text: ROOM, values: [accountId] });
    const { isEmpty = true, files = 0n, bytes = 0n, unfinished = 0n, deleted = 0n } = rows[0] ?? {};
    this.expectRoom({ files: files + 1n, bytes });
    if (unfinished >= BigInt(UNFINISHED_MAX))
      throw wait(`At most ${UNFINISHED_MAX} uploads of an account may be unfinished`);
    if (bytes + deleted > this.accountBytes) throw wait('Files that were deleted are still being removed');
    if (isEmpty && (await this.costsMoney(accountId))) throw nothingLeft(accountId);
    const id = timeOrderedId('file');
    // The id is shown to many, for example in citations; a bucket may be public to whoever knows a key.
    const storeKey = `uploads/${randomBytes(24).toString('hex')}${extension}`;
    await database.query({ text: BEGIN, values: [id, accountId, apiKeyId, storeKey, ABANDONED_MINUTES] });
    this.failpoints.reach('after-upload-begun');
    return { id, storeKey };
  }

  /** Makes a stored file visible. @throws GatewayError `request_too_large`: the account may not keep as much. */
  async keep(accountId: string, id: string, upload: StoredUpload): Promise<UploadedFile> {
    this.failpoints.reach('after-upload-stored');
    const { filename, purpose, contentType, bytes, sha256, expiresAfterSeconds } = upload;
    const defaultSeconds = this.settings.FILE_RETENTION_DAYS * 86_400 || null;
    return this.database.of(accountId).transaction(async (transaction) => {
      const { rows: usage } = await transaction.query<{ files: bigint; bytes: bigint }>({
        text: COUNT,
        values: [accountId, bytes, id],
      });
      if (usage[0]) this.expectRoom(usage[0]);
      const values = [
        id,
        accountId,
        filename,
        purpose,
        contentType,
        bytes,
        sha256,
        expiresAfterSeconds ?? defaultSeconds,
      ];
      const { rows } = await transaction.query<UploadedFile>({ text: KEEP, values });
      if (!rows[0]) throw new GatewayError('request_timeout', 'The upload took too long; send the file again.');
      if (SEARCHED_PURPOSES.some((searched) => searched === purpose))
        await transaction.query({
          text: INDEX,
          values: [id, accountId, DEFAULT_CHUNKING.chunkTokens, DEFAULT_CHUNKING.overlapTokens],
        });
      return rows[0];
    });
  }

  /** Removes what came of an upload that failed; one that was kept stays as it is. */
  async discard(id: string): Promise<void> {
    const { rows } = await this.database.query<{ storeKey: string }>({ text: DISCARD, values: [id] });
    if (rows[0]) await this.removeBytes(id, rows[0].storeKey, FORGET_UPLOAD);
  }

  /** @throws GatewayError `not_found`. */
  async find(accountId: string, id: string): Promise<UploadedFile> {
    const { rows } = await this.database.of(accountId).query<UploadedFile>({ text: FIND, values: [accountId, id] });
    if (!rows[0]) throw noFile(id);
    return rows[0];
  }

  /** @throws GatewayError `invalid_parameter`: `after` is no file of the account. */
  list(accountId: string, { purpose, ...query }: FileListQuery): Promise<ListPart<UploadedFile>> {
    const where = `account_id = $1 and ${FILE_IS_READY} and ($2::text is null or purpose = $2)`;
    return listPart(this.database.of(accountId), {
      select: `select ${FILE_COLUMNS} from uploaded_file where ${where}`,
      values: [accountId, purpose ?? null],
      key: 'id',
      query,
    });
  }

  /**
   * Its bytes and its entries in vector stores go at once; passages are removed by the maintenance.
   *
   * @throws GatewayError `not_found`.
   */
  async remove(accountId: string, id: string): Promise<void> {
    const storeKey = await this.database.of(accountId).transaction(async (transaction) => {
      const { rows } = await transaction.query<{ storeKey: string }>({ text: REMOVE, values: [accountId, id] });
      if (!rows[0]) throw noFile(id);
      await transaction.query({ text: REMOVE_ENTRIES, values: [id], limit: 'long' });
      await forgetUnused(transaction, [id]);
      return rows[0].storeKey;
    });
    await this.removeBytes(id, storeKey, NOTE_NO_BYTES);
  }

  /** Before the answer, so that nobody fills the store faster than it is emptied. What fails is done by the maintenance. */
  private async removeBytes(id: string, storeKey: string, note: string): Promise<void> {
    try {
      await this.store.delete(storeKey);
      await this.database.query({ text: note, values: [id] });
    } catch (error) {
      log.warn('file.bytes_kept', { fileId: id, error });
    }
  }

  private get accountBytes(): bigint {
    return BigInt(this.settings.FILES_ACCOUNT_MB) * BigInt(MIB);
  }

  private async costsMoney(accountId: string): Promise<boolean> {
    const list = await this.prices.listOf(accountId);
    const price = (await this.prices.inForce()).find(STORAGE_MODEL, STORAGE_UNIT, 'default', list);
    return price !== undefined && price.amountMicros > 0n;
  }

  private expectRoom({ files, bytes }: { files: bigint; bytes: bigint }): void {
    const { FILES_PER_ACCOUNT, FILES_ACCOUNT_MB } = this.settings;
    if (files > BigInt(FILES_PER_ACCOUNT)) throw full(`An account may keep at most ${FILES_PER_ACCOUNT} files`);
    if (bytes > this.accountBytes)
      throw full(`The files of an account may have at most ${FILES_ACCOUNT_MB} MiB together`);
  }
}

const full = (rule: string): GatewayError =>
  new GatewayError('request_too_large', `${rule}: delete some that are no longer needed.`, { param: 'file' });

const wait = (rule: string): GatewayError =>
  new GatewayError('rate_limit_exceeded', `${rule}: try again shortly.`, { param: 'file', retryAfterMs: 30_000 });

const noFile = (id: string): GatewayError =>
  new GatewayError('not_found', `There is no file "${id.slice(0, 80)}".`, { param: 'file_id' });
