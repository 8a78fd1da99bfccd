import { Inject, Injectable } from '@nestjs/common';
import { type ErrorCode, GatewayError } from '#contracts';
import { Database, logger, timeOrderedId } from '#platform';
import { PassageVectors, type VectorHolder } from './passage-vectors.js';
import { TEXT_EMBEDDER, type TextEmbedder } from './text-embedder.js';

const log = logger('file-vectors');

/** Passages whose vectors are asked for at once. */
const PASSAGES_AT_ONCE = 64;

/** How long vectors may be waited for before another process makes the next attempt, in seconds. */
const LEASE_SECONDS = 300;

/** After so many failed attempts, over some twenty minutes, passages are found by words alone, and tried once a day. */
const ATTEMPTS_MAX = 8;
const FIRST_PAUSE_SECONDS = 10;
const LONG_PAUSE_SECONDS = 86_400;

/** What no attempt is counted for, and how long it is waited for, in seconds: an operator has to do something. */
const OPERATORS_TURN: ReadonlySet<ErrorCode> = new Set(['model_not_found', 'model_not_priced']);
const OPERATORS_PAUSE_SECONDS = 60;

/** Work of other models begins again. */
const OTHER_MODELS = `
update file_index set embedding_model = null, vector_attempt = 0, vector_due_at = now()
where embedding_model <> $1 or (embedding_model is null and vector_model <> $1)`;

const CLAIM = `
with chosen as (
  select id from file_index where state = 'completed' and embedding_model is null and vector_due_at <= now()
  order by vector_due_at limit 1 for update skip locked
), stale as (
  delete from passage_vector v using chosen, file_index i
  where v.index_id = chosen.id and i.id = chosen.id and i.vector_model is distinct from $1
)
update file_index i set vector_model = $1, vector_due_at = now() + $2 * interval '1 second',
  vector_attempt = case when i.vector_model = $1 then i.vector_attempt + 1 else 1 end
from chosen, uploaded_file f where i.id = chosen.id and f.id = i.file_id
returning i.id::text as id, i.account_id as "accountId", f.api_key_id as "apiKeyId", i.vector_attempt as attempt`;

const WITHOUT_VECTOR = `
select p.nth, p.text from file_passage p where p.index_id = $1
  and not exists (select from passage_vector v where v.index_id = p.index_id and v.nth = p.nth) order by p.nth limit $2`;

const COMPLETE = `
update file_index set embedding_model = $2
where id = $1 and vector_model = $2 and vector_attempt = $3`;

const AGAIN = `
update file_index set vector_attempt = vector_attempt - $5, vector_due_at = now() + $4 * interval '1 second'
where id = $1 and vector_model = $2 and vector_attempt = $3`;

interface ClaimedIndex {
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly attempt: number;
}

/**
 * Makes the vectors of passages that are found by words already, one file at a time. What an attempt has written stays,
 * so that the next one continues after it and nothing is paid twice.
 */
@Injectable()
export class PassageEmbedder {
  #cleared: string | undefined;

  constructor(
    private readonly database: Database,
    private readonly vectors: PassageVectors,
    @Inject(TEXT_EMBEDDER) private readonly embedder: TextEmbedder,
  ) {}

  /** Works on the next file that is due; false: there is none, or no model to work with. */
  async embedNext(): Promise<boolean> {
    const { model } = this.embedder;
    if (model === undefined) return false;
    if (this.#cleared !== model) await this.#begin(model);
    const { rows } = await this.database.query<ClaimedIndex>({ text: CLAIM, values: [model, LEASE_SECONDS] });
    const claimed = rows[0];
    if (!claimed) return false;
    await this.#embed(claimed, model).catch((error: unknown) => this.#postpone(claimed, model, error));
    return true;
  }

  async #begin(model: string): Promise<void> {
    while (await this.vectors.adopt());
    await this.database.query({ text: OTHER_MODELS, values: [model], limit: 'long' });
    this.#cleared = model;
  }

  async #embed({ id, accountId, apiKeyId, attempt }: ClaimedIndex, model: string): Promise<void> {
    const holder: VectorHolder = { indexId: id, model, attempt, leaseSeconds: LEASE_SECONDS };
    for (;;) {
      const { rows } = await this.database.query<{ nth: number; text: string }>({
        text: WITHOUT_VECTOR,
        values: [id, PASSAGES_AT_ONCE],
      });
      const [first] = rows;
      if (!first) break;
      const requestId = timeOrderedId('vectors');
      const vectors = await this.embedder.embed({
        requestId,
        accountId,
        apiKeyId,
        texts: rows.map(({ text }) => text),
      });
      // Another attempt has taken over, or the file is gone.
      if (
        !(await this.vectors.add(
          holder,
          rows.map(({ nth }) => nth),
          vectors,
        ))
      )
        return;
    }
    await this.database.query({ text: COMPLETE, values: [id, model, attempt] });
    log.info('file.embedded', { index: id, model });
  }

  async #postpone({ id, attempt }: ClaimedIndex, model: string, error: unknown): Promise<void> {
    const isOperators = error instanceof GatewayError && OPERATORS_TURN.has(error.code);
    const own = attempt >= ATTEMPTS_MAX ? LONG_PAUSE_SECONDS : FIRST_PAUSE_SECONDS * 2 ** (attempt - 1);
    const pause = isOperators ? OPERATORS_PAUSE_SECONDS : own;
    log.warn('file.embedding_postponed', { index: id, model, attempt, error });
    await this.database.query({ text: AGAIN, values: [id, model, attempt, pause, isOperators ? 1 : 0] });
  }
}
