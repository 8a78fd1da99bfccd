// Searching files: how long it takes among 10,000 passages of one account, and how well judged queries find their texts;
// by words alone, and by words and vectors together.
import 'reflect-metadata';
import { Readable } from 'node:stream';
import {
  FileIndexer,
  FileSearch,
  FilesService,
  SemanticSearch,
  PassageEmbedder,
  PassageVectors,
  PriceBook,
} from '#features';
import { createMediaStore, MediaStoreConfig } from '#media';
import { Database } from '#platform';
import { noFailpoints, readProcessConfig } from '#runtime';
import { startDurableDatabase } from '#testing';
import { benchEmbedder } from './bench-embedder.js';
import { JUDGED_TEXTS } from './judged-searches.js';

const PASSAGES = 10_000;
const FILES = 20;
const SEARCHES = 400;
const P95_BAR_MS = 50;

const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text);

const postgres = await startDurableDatabase();
const database = new Database(postgres.databaseUrl);
const store = await createMediaStore(new MediaStoreConfig(), {
  dataDirectory: postgres.folder,
  publicBaseUrl: () => 'http://127.0.0.1',
});
const config = readProcessConfig({ FILES_PER_ACCOUNT: '100000' });
const files = new FilesService(database, noFailpoints, { config, store }, new PriceBook(database));
const indexer = new FileIndexer(database, store, noFailpoints);
const embedder = benchEmbedder();
const vectors = new PassageVectors(database);
const passageEmbedder = new PassageEmbedder(database, vectors, embedder, { config });
const SEARCHES_BY = [
  ['words', new FileSearch(database)],
  [`words and vectors (${embedder.model})`, new FileSearch(database, new SemanticSearch(vectors, embedder))],
] as const;
const never = new AbortController().signal;

try {
  await measureTime();
  await measureQuality();
} finally {
  await indexer.close();
  await database.close();
  await store.close();
  await postgres.stop();
}

async function addAccount(accountId: string): Promise<void> {
  await database.query({ text: 'insert into account (id, name) values ($1, $1)', values: [accountId] });
  await database.query({
    text: `insert into api_key (id, account_id, name, prefix, key_hash) values ($1, $2, 'bench', 'sk', $3)`,
    values: [`key_${accountId}`, accountId, Buffer.from(accountId)],
  });
}

async function addFile(accountId: string, text: string): Promise<string> {
  const { id, storeKey } = await files.begin({ accountId, apiKeyId: `key_${accountId}` });
  const stored = await store.put(storeKey, Readable.from([Buffer.from(text)]), {
    contentType: 'text/plain',
    maxBytes: 64 * 1024 * 1024,
  });
  const upload = { filename: 'a.txt', purpose: 'assistants', contentType: 'text/plain', expiresAfterSeconds: null };
  await files.keep(accountId, id, { ...upload, bytes: stored.bytes, sha256: stored.sha256 });
  return id;
}

/** Words as frequent as those of a language: the n-th comes a n-th part as often as the first. */
function wordsLikeALanguage(): () => string {
  const vocabulary = Array.from(
    { length: 30_000 },
    (_, index) => `${'bcdfglmnprst'[index % 12]}${'aeiou'[index % 5]}${index.toString(36)}`,
  );
  let seed = 42;
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return vocabulary[Math.floor(Math.exp((seed / 2_147_483_648) * Math.log(vocabulary.length)))] ?? '';
  };
}

async function measureTime(): Promise<void> {
  const word = wordsLikeALanguage();
  await addAccount('many');
  const count = async (): Promise<number> =>
    (await database.query<{ count: number }>({ text: 'select count(*)::integer as count from file_passage' })).rows[0]
      ?.count ?? 0;
  const begun = performance.now();
  // Each passage repeats half of the one before: 1,600 new characters.
  const characters = (PASSAGES / FILES) * 1_600;
  while ((await count()) < PASSAGES) {
    const parts: string[] = [];
    for (let length = 0; length < characters; length += (parts.at(-1)?.length ?? 0) + 1) parts.push(word());
    await addFile('many', parts.join(' '));
    while (await indexer.indexNext('quick'));
  }
  const indexedSeconds = (performance.now() - begun) / 1000;
  const passages = await count();
  const embedded = performance.now();
  while (await passageEmbedder.embedNext());
  const embeddedSeconds = (performance.now() - embedded) / 1000;
  const rate = (seconds: number): string => (passages / seconds).toFixed(0);
  console.log(`\nindexing ${rate(indexedSeconds)} passages/s, vectors ${rate(embeddedSeconds)} passages/s`);
  console.log(`\n| ${passages} passages, queries of 2 to 10 words | p50 ms | p95 ms | p99 ms |\n|---|---:|---:|---:|`);
  for (const [name, search] of SEARCHES_BY) await measureSearches(name, search, word);
}

async function measureSearches(name: string, search: FileSearch, word: () => string): Promise<void> {
  const times: number[] = [];
  for (let nth = 0; nth < SEARCHES; nth += 1) {
    const query = Array.from({ length: 2 + (nth % 9) }, word).join(' ');
    const from = performance.now();
    await search.search({ ...ofAccount('many'), query, limit: 20 }, never);
    times.push(performance.now() - from);
  }
  const sorted = times.slice(SEARCHES / 10).sort((left, right) => left - right);
  const percentile = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1);
  console.log(`| ${name}, 20 results | ${percentile(0.5)} | ${percentile(0.95)} | ${percentile(0.99)} |`);
  if (name === 'words' && Number(percentile(0.95)) > P95_BAR_MS) process.exitCode = 1;
}

/** All files of an account, which would pay for the vector of a query. */
function ofAccount(accountId: string) {
  const payer = { apiKeyId: `key_${accountId}`, requestId: 'bench' };
  return { accountId, vectorStoreIds: 'default' as const, payer };
}

async function measureQuality(): Promise<void> {
  await addAccount('judged');
  const ids: string[] = [];
  for (const { text } of JUDGED_TEXTS) ids.push(await addFile('judged', text));
  while (await indexer.indexNext('quick'));
  while (await passageEmbedder.embedNext());
  for (const [by, search] of SEARCHES_BY) await measureRanks(by, search, ids);
}

async function measureRanks(by: string, search: FileSearch, ids: readonly string[]): Promise<void> {
  console.log(`\n| queries, by ${by} | recall@1 | recall@5 | MRR |\n|---|---:|---:|---:|`);
  for (const [name, isWanted] of [
    ['English, words of the text', (text: string, nth: number) => !isChinese(text) && nth === 0],
    ['English, other words', (text: string, nth: number) => !isChinese(text) && nth === 1],
    ['Chinese, words of the text', (text: string, nth: number) => isChinese(text) && nth === 0],
    ['Chinese, other words', (text: string, nth: number) => isChinese(text) && nth === 1],
    ['all', () => true],
  ] as const) {
    const ranks = await ranksOf(search, ids, isWanted);
    const share = (most: number): string => (ranks.filter((rank) => rank <= most).length / ranks.length).toFixed(2);
    const mrr = ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length;
    console.log(`| ${name} (${ranks.length}) | ${share(1)} | ${share(5)} | ${mrr.toFixed(2)} |`);
  }
}

/** Which place the right text has for each query; infinite where it is not among ten. */
async function ranksOf(
  search: FileSearch,
  ids: readonly string[],
  isWanted: (text: string, nth: number) => boolean,
): Promise<number[]> {
  const ranks: number[] = [];
  for (const [index, { text, queries }] of JUDGED_TEXTS.entries())
    for (const [nth, query] of queries.entries()) {
      if (!isWanted(text, nth)) continue;
      const found = await search.search({ ...ofAccount('judged'), query, limit: 10 }, never);
      const place = found.findIndex(({ fileId }) => fileId === ids[index]);
      ranks.push(place < 0 ? Infinity : place + 1);
    }
  return ranks;
}
