import { Inject, Injectable } from '@nestjs/common';
import { type ErrorCode, GatewayError } from '#contracts';
import { Database, logger, timeOrderedId } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { accountsInTurn, indexBytesMax } from '../uploaded-file.js';
import { PassageVectors, TEXT_EMBEDDER, type TextEmbedder } from './passage-vectors.js';

const log = logger('file-vectors');

/** Passages of a turn, whose vectors are asked for at once. */
const PASSAGES_AT_ONCE = 64;

/** Vectors of another model that a turn removes. */
const STALE_AT_ONCE = 2_000;

/** Indexes that are looked at in one statement for those of other models. */
const INDEXES_AT_ONCE = 10_000;

/** How long vectors may be waited for before another process has a turn, in seconds. */
const LEASE_SECONDS = 300;

/** After so many failed turns, over some twenty minutes, passages are found by words alone, and tried once a day. */
const ATTEMPTS_MAX = 8;
const FIRST_PAUSE_SECONDS = 10;
const LONG_PAUSE_SECONDS = 86_400;

/** What no attempt is counted for, and how long it is waited for, in seconds: an operator has to do something. */
const OPERATORS_TURN: ReadonlySet<ErrorCode> = new Set(['model_not_found', 'model_not_priced']);
const OPERATORS_PAUSE_SECONDS = 60;

/** How long an account that has as much as it may have is waited for, in seconds. */
const FULL_PAUSE_SECONDS = 3_600;

/** Work of other models begins again. $2 the last index that was looked at. */
const OTHER_MODELS = `
with batch as materialized (select id from file_index where id > $2 order by id limit ${INDEXES_AT_ONCE}), changed as (
  update file_index set embedding_model = null, vector_attempt = 0, vector_due_at = now()
  where id = any(array(select id from batch))
    and (embedding_model <> $1 or (embedding_model is null and vector_model <> $1))
)
select max(id)::text as last from batch`;

const HAS_TURN = `state = 'completed' and embedding_model is null`;

/** $1 the model, $2 lease in seconds, $3 the account that had the last turn, $4 the most bytes of an account. */
const CLAIM = `
with chosen as (
  select due.id from (${accountsInTurn(HAS_TURN, '$3')}) as turn cross join lateral (
    select id from file_index where ${HAS_TURN} and file_index.account_id = turn.account_id and vector_due_at <= now()
    order by vector_due_at limit 1 for update skip locked) as due
  limit 1
)
update file_index i set vector_model = coalesce(i.vector_model, $1), vector_due_at = now() + $2 * interval '1 second',
  vector_turn = i.vector_turn + 1, vector_attempt = i.vector_attempt + 1
from chosen, uploaded_file f where i.id = chosen.id and f.id = i.file_id
returning i.id::text as id, i.account_id as "accountId", f.api_key_id as "apiKeyId", i.vector_turn as turn,
  i.vector_attempt as attempt, i.vector_model <> $1 as "isStale",
  coalesce((select u.index_bytes >= $4 from file_usage u where u.account_id = i.account_id), false) as "isFull"`;

/** $1 the index, $2 the turn, $3 the model. A part of the vectors of another model; with the last of them it is this one's. */
const REMOVE_STALE = `
with holder as (
  select id from file_index where id = $1 and vector_turn = $2 for update
), removed as (
  delete from passage_vector where ctid = any(array(
    select v.ctid from holder join passage_vector v on v.index_id = holder.id limit ${STALE_AT_ONCE})) returning 1
)
update file_index set vector_due_at = now(), vector_attempt = 0,
  vector_model = case when (select count(*) from removed) < ${STALE_AT_ONCE} then $3 else vector_model end,
  vector_bytes = case when (select count(*) from removed) < ${STALE_AT_ONCE} then 0 else vector_bytes end
where id = (select id from holder)`;

const WITHOUT_VECTOR = `
select p.nth, p.text from file_passage p where p.index_id = $1
  and not exists (select from passage_vector v where v.index_id = p.index_id and v.nth = p.nth) order by p.nth limit $2`;

const COMPLETE = `
update file_index set embedding_model = $2 where id = $1 and vector_model = $2 and vector_turn = $3`;

const AGAIN = `
update file_index set vector_attempt = vector_attempt - $4, vector_due_at = now() + $3 * interval '1 second'
where id = $1 and vector_turn = $2`;

interface ClaimedIndex {
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly turn: number;
  readonly attempt: number;
  /** It has, or had, vectors of another model. */
  readonly isStale: boolean;
  /** The account has as much as it may have: its passages are found by words alone. */
  readonly isFull: boolean;
}

/**
 * Makes the vectors of passages that are found by words already, in turns of the accounts and of the files of each. What a
 * turn has written stays, so that the next one continues after it and nothing is paid twice.
 */
@Injectable()
export class PassageEmbedder {
  private cleared: string | undefined;
  private readonly bytesMax: number;
  /** The account that had the last turn. */
  private served = '';

  constructor(
    private readonly database: Database,
    private readonly vectors: PassageVectors,
    @Inject(TEXT_EMBEDDER) private readonly embedder: TextEmbedder,
    @Inject(PLATFORM) { config }: { readonly config: Pick<Platform['config'], 'files'> },
  ) {
    this.bytesMax = indexBytesMax(config.files);
  }

  /** Has the next turn that is due; false: there is none, or no model to work with. */
  async embedNext(): Promise<boolean> {
    const { model } = this.embedder;
    if (model === undefined) return false;
    if (this.cleared !== model) await this.begin(model);
    const { rows } = await this.database.query<ClaimedIndex>({
      text: CLAIM,
      values: [model, LEASE_SECONDS, this.served, this.bytesMax],
    });
    const claimed = rows[0];
    if (!claimed) return false;
    this.served = claimed.accountId;
    const work = claimed.isStale ? this.removeStale(claimed, model) : this.embed(claimed, model);
    await work.catch((error: unknown) => this.postpone(claimed, model, error));
    return true;
  }

  private async begin(model: string): Promise<void> {
    while (await this.vectors.adopt());
    let last: string | null = '0';
    while (last !== null) last = await this.restartOthers(model, last);
    this.cleared = model;
  }

  /** Answers the last index that was looked at, null when there are no more behind `last`. */
  private async restartOthers(model: string, last: string): Promise<string | null> {
    const { rows } = await this.database.query<{ last: string | null }>({
      text: OTHER_MODELS,
      values: [model, last],
      limit: 'long',
    });
    return rows[0]?.last ?? null;
  }

  private async removeStale({ id, turn }: ClaimedIndex, model: string): Promise<void> {
    await this.database.query({ text: REMOVE_STALE, values: [id, turn, model], limit: 'long' });
  }

  private async embed({ id, accountId, apiKeyId, turn, isFull }: ClaimedIndex, model: string): Promise<void> {
    if (isFull) return this.again(id, turn, FULL_PAUSE_SECONDS, 1);
    const { rows } = await this.database.query<{ nth: number; text: string }>({
      text: WITHOUT_VECTOR,
      values: [id, PASSAGES_AT_ONCE],
    });
    if (rows.length > 0) {
      const requestId = timeOrderedId('vectors');
      const texts = rows.map(({ text }) => text);
      const vectors = await this.embedder.embed({ requestId, accountId, apiKeyId, texts });
      const nths = rows.map(({ nth }) => nth);
      if (!(await this.vectors.add({ indexId: id, model, turn }, nths, vectors))) return;
    }
    if (rows.length === PASSAGES_AT_ONCE) return;
    const { rowCount } = await this.database.query({ text: COMPLETE, values: [id, model, turn] });
    if (rowCount === 1) log.info('file.embedded', { index: id, model });
  }

  private async postpone({ id, turn, attempt }: ClaimedIndex, model: string, error: unknown): Promise<void> {
    const isOperators = error instanceof GatewayError && OPERATORS_TURN.has(error.code);
    const own = attempt >= ATTEMPTS_MAX ? LONG_PAUSE_SECONDS : FIRST_PAUSE_SECONDS * 2 ** (attempt - 1);
    const pause = isOperators ? OPERATORS_PAUSE_SECONDS : own;
    log.warn('file.embedding_postponed', { index: id, model, attempt, error });
    await this.again(id, turn, pause, isOperators ? 1 : 0);
  }

  /** @param uncounted how many attempts are taken back. */
  private async again(id: string, turn: number, pauseSeconds: number, uncounted: number): Promise<void> {
    await this.database.query({ text: AGAIN, values: [id, turn, pauseSeconds, uncounted] });
  }
}
