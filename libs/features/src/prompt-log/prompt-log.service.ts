import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import {
  type ConsolePrompt,
  type ConsolePromptEntry,
  type ConsolePromptLog,
  type ConsolePromptLogSettings,
  GatewayError,
} from '#contracts';
import { Database, SecretSealer, type StatementRunner, timeOrderedId } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { AuditedChanges, changeOf, type Operator } from '../audit/audit.js';
import { missingAccount } from '../billing/ledger/locked-account.js';
import { cursorTime, fromCursor, type Page, type PageRequest, toPage } from '../paging/page.js';
import type { SealedTexts } from './prompt-log-writer.js';
import { expectRedactions } from './redaction.js';

const decompress = promisify(brotliDecompress);
/** More than any entry has. */
const OPENED_MAX = 8 * 1024 * 1024;

export const PROMPT_RETENTION_DAYS = { least: 1, most: 90, usual: 7 } as const;

interface LogRow extends ConsolePromptLogSettings {
  readonly id: string;
  readonly bytes: number;
}

const READ = `
select id, is_on as enabled, retention_days, redactions, kept_bytes::float8 as bytes
from prompt_log where account_id = $1 and ended_at is null`;

const COLUMNS = `e.id, ${cursorTime('e.created_at')} as time, e.request_id, e.api_key_id, e.model, e.session`;

/** Those whose days are over are gone for every reader, however long their removal takes. */
const KEPT = `prompt_log l join prompt_entry e on e.log_id = l.id
where l.account_id = $1 and l.ended_at is null and e.created_at > now() - make_interval(days => l.retention_days)`;

const LIST = `select ${COLUMNS} from ${KEPT}
  and ($2::timestamptz is null or (e.created_at <= $2 and (e.created_at, e.id) < ($2, $3)))
  and ($4::text is null or e.session = $4) and ($5::text is null or e.request_id = $5)
order by e.created_at desc, e.id desc limit $6`;

const READ_ENTRY = `select ${COLUMNS}, e.sealed, l.id as log_id, l.sealed_key from ${KEPT} and e.id = $2`;

const REMOVE_ENTRY = `
with gone as (
  delete from prompt_entry e using prompt_log l
  where l.account_id = $1 and l.ended_at is null and e.log_id = l.id and e.id = $2 returning e.log_id, e.kept_bytes
)
update prompt_log l set kept_bytes = greatest(l.kept_bytes - gone.kept_bytes, 0) from gone where l.id = gone.log_id returning 1`;

/** Its key goes, and with it the words of every entry. */
const END = `
update prompt_log set is_on = false, sealed_key = null, ended_at = now() where account_id = $1 and ended_at is null`;

const BEGIN = `
insert into prompt_log (id, account_id, is_on, retention_days, redactions, sealed_key) values ($1, $2, $3, $4, $5, $6)`;

/** Deletes everything that is logged of an account, at once, and logs no more. */
const endPromptLog = (transaction: StatementRunner, accountId: string): Promise<unknown> =>
  transaction.query({ text: END, values: [accountId] });

/** The log of prompts and answers of an account: its settings, and what is in it, for its owner and for operators. */
@Injectable()
export class PromptLogService {
  private readonly bytesMax: number;

  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
    private readonly sealer: SecretSealer,
    @Inject(PLATFORM) { config }: Pick<Platform, 'config'>,
  ) {
    this.bytesMax = config.retention.PROMPT_LOG_ACCOUNT_MB * 1024 * 1024;
  }

  async settings(accountId: string): Promise<ConsolePromptLog> {
    const { rows } = await this.database.of(accountId).query<LogRow>({ text: READ, values: [accountId] });
    return this.viewOf(rows[0]);
  }

  /**
   * A change reaches every replica within seconds (see `KEY_CACHE_MS`). What is logged stays when the log is switched off, until its
   * days are over or it is deleted.
   *
   * @throws GatewayError `not_found`: there is no such account; `invalid_parameter`; `permission_denied`: this gateway keeps no such logs;
   * `conflict`: the account is disabled.
   */
  async change(actor: Operator, accountId: string, settings: ConsolePromptLogSettings): Promise<ConsolePromptLog> {
    expectRedactions(settings.redactions);
    if (settings.enabled && this.bytesMax === 0)
      throw new GatewayError(
        'permission_denied',
        'This gateway keeps no prompts and answers: its operator has set PROMPT_LOG_ACCOUNT_MB to 0.',
      );
    await this.changes.runStatements(actor, async (transaction) => {
      await expectOpenAccount(transaction, accountId, settings.enabled);
      const { rows } = await transaction.query<LogRow>({ text: READ, values: [accountId] });
      const [before] = rows;
      const { enabled, retention_days: days, redactions } = settings;
      if (before) {
        const text = 'update prompt_log set is_on = $2, retention_days = $3, redactions = $4 where id = $1';
        await transaction.query({ text, values: [before.id, enabled, days, redactions] });
      } else await this.begin(transaction, accountId, settings);
      const was = before ? settingsOf(before) : null;
      return { result: undefined, change: changeOf('account', 'account.prompt_log_set', accountId, was, settings) };
    });
    return this.settings(accountId);
  }

  /** Everything that is logged is unreadable when this resolves; the log goes on, or stays off, with the same settings. */
  async clear(actor: Operator, accountId: string): Promise<ConsolePromptLog> {
    await this.changes.runStatements(actor, async (transaction) => {
      await expectOpenAccount(transaction, accountId, false);
      const { rows } = await transaction.query<LogRow>({ text: READ, values: [accountId] });
      const [before] = rows;
      if (!before) return { result: undefined, change: null };
      await endPromptLog(transaction, accountId);
      await this.begin(transaction, accountId, before);
      return {
        result: undefined,
        change: changeOf('account', 'account.prompt_log_cleared', accountId),
      };
    });
    return this.settings(accountId);
  }

  /** Newest first, without words. */
  async list(
    accountId: string,
    { session, requestId }: { readonly session: string | null; readonly requestId: string | null },
    page: PageRequest,
  ): Promise<Page<ConsolePromptEntry>> {
    const position = fromCursor(page.cursor);
    const values = [accountId, position?.time ?? null, position?.id ?? null, session, requestId, page.limit + 1];
    const { rows } = await this.database.of(accountId).query<ConsolePromptEntry>({ text: LIST, values });
    return toPage(rows, page.limit);
  }

  /** The words of an entry; that they were read, and by whom, is on record before they are shown. @throws GatewayError `not_found`. */
  async read(actor: Operator, accountId: string, entryId: string): Promise<ConsolePrompt> {
    const row = await this.changes.runStatements(actor, async (transaction) => {
      const { rows } = await transaction.query<
        ConsolePromptEntry & { sealed: Buffer; sealed_key: Buffer; log_id: string } & Record<string, unknown>
      >({ text: READ_ENTRY, values: [accountId, entryId] });
      const [found] = rows;
      if (!found) throw unknownEntry(entryId);
      const after = { entry_id: entryId, request_id: found.request_id };
      return { result: found, change: changeOf('account', 'account.prompt_read', accountId, null, after) };
    });
    const { sealed, sealed_key: sealedKey, log_id: logId, ...entry } = row;
    const opened = this.sealer.withKey(sealedKey, logId).open(sealed, entryId);
    const texts = JSON.parse((await decompress(opened, { maxOutputLength: OPENED_MAX })).toString()) as SealedTexts;
    return { ...entry, ...texts };
  }

  /** @throws GatewayError `not_found`. */
  async remove(actor: Operator, accountId: string, entryId: string): Promise<void> {
    await this.changes.runStatements(actor, async (transaction) => {
      const { rows } = await transaction.query({ text: REMOVE_ENTRY, values: [accountId, entryId] });
      if (rows.length === 0) throw unknownEntry(entryId);
      const before = { entry_id: entryId };
      return { result: undefined, change: changeOf('account', 'account.prompt_removed', accountId, before) };
    });
  }

  private begin(transaction: StatementRunner, accountId: string, settings: ConsolePromptLogSettings): Promise<unknown> {
    const id = timeOrderedId('promptlog');
    const { enabled, retention_days: days, redactions } = settings;
    return transaction.query({
      text: BEGIN,
      values: [id, accountId, enabled, days, redactions, this.sealer.newKey(id)],
    });
  }

  private viewOf(row: LogRow | undefined): ConsolePromptLog {
    const settings = row
      ? settingsOf(row)
      : { enabled: false, retention_days: PROMPT_RETENTION_DAYS.usual, redactions: [] };
    return { ...settings, bytes: row?.bytes ?? 0, bytes_max: this.bytesMax };
  }
}

const settingsOf = ({ enabled, retention_days, redactions }: ConsolePromptLogSettings): ConsolePromptLogSettings => ({
  enabled,
  retention_days,
  redactions,
});

async function expectOpenAccount(
  transaction: StatementRunner,
  accountId: string,
  isToBeLogged: boolean,
): Promise<void> {
  const lock = { text: 'select disabled_at from account where id = $1 for no key update', values: [accountId] };
  const { rows } = await transaction.query<{ disabled_at: Date | null }>(lock);
  const [account] = rows;
  if (!account) return missingAccount(accountId);
  if (isToBeLogged && account.disabled_at)
    throw new GatewayError('conflict', 'The account is disabled: nothing of it can be logged.', { param: 'enabled' });
}

const unknownEntry = (entryId: string): GatewayError =>
  new GatewayError('not_found', `There is no logged request "${entryId}": it is unknown, or was deleted.`);
