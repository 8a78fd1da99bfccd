/** What a file may be uploaded for, as the widely used interface names it. */
export const FILE_PURPOSES = ['assistants', 'user_data', 'batch', 'fine-tune', 'vision', 'evals'] as const;
export type FilePurpose = (typeof FILE_PURPOSES)[number];

/** Files for these are indexed by themselves, and found without naming a vector store. */
export const SEARCHED_PURPOSES: readonly FilePurpose[] = ['assistants', 'user_data'];

export interface UploadedFile {
  readonly id: string;
  readonly filename: string;
  readonly purpose: string;
  readonly contentType: string;
  readonly bytes: bigint;
  readonly storeKey: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

export const FILE_COLUMNS = `id, filename, purpose, content_type as "contentType", bytes, store_key as "storeKey",
  created_at as "createdAt", expires_at as "expiresAt"`;

/** Whether a file is there for its account. */
export const FILE_IS_READY = `state = 'ready' and (expires_at is null or expires_at > now())`;

/** The same of a file `f` beside other rows. One whose time is over is gone at once, before the maintenance removes it. */
export const JOINED_FILE_IS_READY = `f.state = 'ready' and (f.expires_at is null or f.expires_at > now())`;

/** Set with each change of the bytes of `file_usage` (`u`): how long there were as many as before. */
export const METERED = `byte_seconds = u.byte_seconds + (u.bytes + u.index_bytes + u.text_bytes) * extract(epoch from now() - u.metered_at),
  metered_at = now()`;

/** What is made of an account's files to search them may have so many times the bytes that its files may have. */
const INDEX_FACTOR = 16;

/** The most bytes of passages, terms and vectors of an account. */
export const indexBytesMax = ({ FILES_ACCOUNT_MB }: { readonly FILES_ACCOUNT_MB: number }): number =>
  INDEX_FACTOR * FILES_ACCOUNT_MB * 1024 * 1024;

const NAME_MAX = 255;

/** A name without folders, control characters and what turns the direction of text; `file` where nothing is left. */
export function cleanFilename(sent: string): string {
  const own = sent.split(/[/\\]/).at(-1) ?? '';
  // Marks are put in order in time by the square of their number.
  const part = own.length > 4 * NAME_MAX ? own.slice(0, 2 * NAME_MAX) + own.slice(-2 * NAME_MAX) : own;
  const last = part.toWellFormed().normalize('NFC');
  const shown = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim();
  const name = /^\.*$/.test(shown) ? 'file' : shown;
  if (name.length <= NAME_MAX) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? '';
  return (
    name
      .slice(0, NAME_MAX - extension.length)
      .toWellFormed()
      .replace(/\uFFFD$/, '') + extension
  );
}

export interface Chunking {
  /** The most tokens of a passage, 100 to 4096, as `roughTokens` counts them. */
  readonly chunkTokens: number;
  /** How many of them the next passage repeats: at most half. */
  readonly overlapTokens: number;
}

/** What the widely used interface calls `auto`. */
export const DEFAULT_CHUNKING: Chunking = { chunkTokens: 800, overlapTokens: 400 };

/** Steps over an index from one account to the next, within a range of account ids. */
const stepOverAccounts = (where: string, range: string): string => `(
  with recursive step as (
    (select account_id from file_index where ${where} and account_id ${range} order by account_id limit 1)
    union all
    select (select i.account_id from file_index i
        where ${where} and i.account_id > step.account_id and i.account_id ${range} order by i.account_id limit 1)
    from step where step.account_id is not null
  ) select account_id from step where account_id is not null
)`;

/**
 * The accounts that have an index for which `where` holds, those behind the account `last` first: a query that finds as
 * many as are read of it, by an index that begins with what `where` fixes and `account_id`.
 */
export const accountsInTurn = (where: string, last: string): string =>
  `${stepOverAccounts(where, `> ${last}`)} union all ${stepOverAccounts(where, `<= ${last}`)}`;
