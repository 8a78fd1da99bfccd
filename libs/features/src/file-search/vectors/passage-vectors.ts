import { Injectable } from '@nestjs/common';
import { Database, logger, type StatementRunner } from '#platform';

export const TEXT_EMBEDDER = Symbol('TextEmbedder');

/** Texts to embed, and the payer. */
export interface EmbeddingOrder {
  /** Names the bill. */
  readonly requestId: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly texts: readonly string[];
}

/** Makes vectors of texts, near each other where the texts mean the same. */
export interface TextEmbedder {
  /** The model that makes them; undefined while none is set, or no upstream offers it. */
  readonly model: string | undefined;
  /**
   * A vector for each text, all as long as each other, each of length 1.
   *
   * @throws GatewayError as `EmbeddingsService.embed`, and `upstream_error` for an answer that holds no such vectors.
   */
  embed(order: EmbeddingOrder): Promise<readonly Float32Array[]>;
}

const log = logger('file-vectors');

/** Of how many passages, the nearest by their signs, the vectors themselves are compared. Reading them is what takes time. */
const COMPARED_MAX = 200;

/** Vectors that are moved to the column of pgvector by one statement. */
const MOVED_AT_ONCE = 500;

const COLUMN = `
select exists (select from pg_attribute
    where attrelid = 'passage_vector'::regclass and attname = 'vector' and not attisdropped) as "hasColumn",
  exists (select from pg_available_extensions where name = 'vector') as "isAvailable"`;

const ADD_COLUMN = [
  'create extension if not exists vector',
  'alter table passage_vector add column if not exists vector vector',
];

const UNMOVED = `
select index_id::text as index, nth, embedding from passage_vector where embedding is not null limit $1`;

const MOVE = `
update passage_vector p set vector = m.vector::vector, embedding = null, signature = null
from unnest($1::bigint[], $2::integer[], $3::text[]) as m (index_id, nth, vector)
where p.index_id = m.index_id and p.nth = m.nth`;

/** The turn is the guard, and ends as its vectors are written: the next one is due. */
const HOLDER = `
with holder as (
  update file_index set vector_due_at = now(), vector_attempt = 0, vector_bytes = vector_bytes + $5
  where id = $1 and vector_model = $2 and vector_turn = $3 returning id
)`;

const ADD_BYTES = `${HOLDER}
insert into passage_vector (index_id, nth, signature, embedding)
select holder.id, v.nth, v.signature::bit varying, v.embedding
from holder, unnest($4::integer[], $6::text[], $7::bytea[]) as v (nth, signature, embedding) returning nth`;

const ADD_VECTORS = `${HOLDER}
insert into passage_vector (index_id, nth, vector)
select holder.id, v.nth, v.vector::vector from holder, unnest($4::integer[], $6::text[]) as v (nth, vector) returning nth`;

/** Vectors of another length are none that can be compared. */
const NEAREST_VECTORS = `
select index_id::text as index, nth, -distance as similarity from (
  select index_id, nth, case when vector_dims(vector) = $3 then vector <#> $2::vector end as distance
  from passage_vector where index_id = any($1::bigint[]) and vector is not null
) as compared where distance is not null order by distance limit $4`;

const NEAREST_SIGNS = `
with near as materialized (
  select index_id, nth from passage_vector where index_id = any($1::bigint[]) and embedding is not null
  order by case when length(signature) = $3 then bit_count(signature # $2::bit varying) end limit $4
)
select index_id::text as index, nth, embedding from near join passage_vector using (index_id, nth)
where length(signature) = $3`;

/** The process whose turn on the vectors of an index it is. */
export interface VectorHolder {
  readonly indexId: string;
  readonly model: string;
  readonly turn: number;
}

/** A passage and how near it is: the cosine, -1 to 1. */
interface NearPassage {
  readonly index: string;
  readonly nth: number;
  readonly similarity: number;
}

/**
 * The vectors of passages. Where the database has pgvector they are of its type, and it compares all of them; elsewhere
 * they are bytes, of which the nearest by their signs are compared here. Either way only those of the indexes that are
 * searched are read, which are an account's own.
 */
@Injectable()
export class PassageVectors {
  private hasColumn: Promise<boolean> | undefined;

  constructor(private readonly database: Database) {}

  /** Begins to use pgvector where it has come since; a little at a time. True: there is more to move. */
  async adopt(): Promise<boolean> {
    const { rows } = await this.database.query<{ hasColumn: boolean; isAvailable: boolean }>({ text: COLUMN });
    if (!rows[0]?.isAvailable) return false;
    if (!rows[0].hasColumn) await this.addColumn();
    this.hasColumn = undefined;
    if (!(await this.usesPgvector())) return false;
    const { rows: unmoved } = await this.database.query<{ index: string; nth: number; embedding: Buffer }>({
      text: UNMOVED,
      values: [MOVED_AT_ONCE],
    });
    const texts = unmoved.map(({ embedding }) => vectorText(fromBytes(embedding)));
    const values = [unmoved.map(({ index }) => index), unmoved.map(({ nth }) => nth), texts];
    if (unmoved.length > 0) await this.database.query({ text: MOVE, values, limit: 'long' });
    return unmoved.length === MOVED_AT_ONCE;
  }

  /** Adds vectors of the passages `nths`, and ends the turn. False: another turn has begun, or the file is gone. */
  async add(holder: VectorHolder, nths: readonly number[], vectors: readonly Float32Array[]): Promise<boolean> {
    const { indexId, model, turn } = holder;
    const held = [indexId, model, turn, nths, vectors.reduce((sum, { length }) => sum + bytesOf(length), 0)];
    const statement = (await this.usesPgvector())
      ? { text: ADD_VECTORS, values: [...held, vectors.map(vectorText)] }
      : { text: ADD_BYTES, values: [...held, vectors.map(signsOf), vectors.map(toBytes)] };
    return (await this.database.query({ ...statement, limit: 'long' })).rows.length === nths.length;
  }

  /** The passages of these indexes, all of the account, whose vectors are nearest, nearest first. */
  async nearest(
    accountId: string,
    indexes: readonly string[],
    vector: Float32Array,
    limit: number,
  ): Promise<readonly NearPassage[]> {
    const database = this.database.of(accountId);
    const ways = [nearestBytes(database, indexes, vector)];
    if (await this.usesPgvector()) ways.push(nearestVectors(database, indexes, vector, limit));
    const near = (await Promise.all(ways)).flat();
    return near.toSorted((left, right) => right.similarity - left.similarity).slice(0, limit);
  }

  private usesPgvector(): Promise<boolean> {
    this.hasColumn ??= this.database
      .query<{ hasColumn: boolean }>({ text: COLUMN })
      .then(({ rows }) => rows[0]?.hasColumn === true)
      .catch((error: unknown) => {
        this.hasColumn = undefined;
        throw error;
      });
    return this.hasColumn;
  }

  private async addColumn(): Promise<void> {
    try {
      for (const text of ADD_COLUMN) await this.database.query({ text });
    } catch (error) {
      log.warn('pgvector.unused', { hint: `run as an owner of the database: ${ADD_COLUMN.join('; ')}`, error });
    }
  }
}

async function nearestVectors(
  database: StatementRunner,
  indexes: readonly string[],
  vector: Float32Array,
  limit: number,
): Promise<NearPassage[]> {
  const values = [indexes, vectorText(vector), vector.length, limit];
  return (await database.query<NearPassage & object>({ text: NEAREST_VECTORS, values })).rows.slice();
}

async function nearestBytes(
  database: StatementRunner,
  indexes: readonly string[],
  vector: Float32Array,
): Promise<NearPassage[]> {
  const { rows } = await database.query<{ index: string; nth: number; embedding: Buffer }>({
    text: NEAREST_SIGNS,
    values: [indexes, signsOf(vector), vector.length, COMPARED_MAX],
  });
  return rows.map(({ index, nth, embedding }) => ({ index, nth, similarity: product(fromBytes(embedding), vector) }));
}

/** About what a vector takes in the database: its numbers and their signs, or the same in pgvector, and its row. */
const bytesOf = (length: number): number => 64 + 4 * length + Math.ceil(length / 8);

/** As pgvector reads it. */
const vectorText = (vector: Float32Array): string => `[${vector.join(',')}]`;

const signsOf = (vector: Float32Array): string => Array.from(vector, (value) => (value > 0 ? '1' : '0')).join('');

const toBytes = (vector: Float32Array): Buffer => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** Copied, because numbers must begin at a multiple of four. */
const fromBytes = (bytes: Buffer): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);

const product = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
