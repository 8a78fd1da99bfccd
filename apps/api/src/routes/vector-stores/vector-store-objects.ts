import type { Passage } from '#contracts';
import type { FileBatch, FileCounts, StoreEntry, VectorStore } from '#features';
import { seconds } from '../uploads/file-object.js';

const countsObject = ({ inProgress, ...counts }: FileCounts): object => ({ in_progress: inProgress, ...counts });

/** A vector store in the shape of the widely used interface. */
export const storeObject = (store: VectorStore) => ({
  id: store.id,
  object: 'vector_store',
  created_at: seconds(store.createdAt),
  name: store.name,
  description: store.description,
  usage_bytes: Number(store.usageBytes),
  file_counts: countsObject(store.counts),
  status: statusOf(store),
  expires_after: store.expiresAfterDays === null ? null : { anchor: 'last_active_at', days: store.expiresAfterDays },
  expires_at: store.expiresAt && seconds(store.expiresAt),
  last_active_at: seconds(store.lastActiveAt),
  metadata: store.metadata,
});

function statusOf({ isExpired, counts }: VectorStore): string {
  if (isExpired) return 'expired';
  return counts.inProgress > 0 ? 'in_progress' : 'completed';
}

/** A file of a vector store in that shape. */
export const entryObject = (entry: StoreEntry) => ({
  id: entry.fileId,
  object: 'vector_store.file',
  usage_bytes: Number(entry.usageBytes),
  created_at: seconds(entry.createdAt),
  vector_store_id: entry.vectorStoreId,
  status: entry.state,
  last_error: entry.state === 'failed' ? { code: entry.errorCode, message: entry.errorMessage } : null,
  chunking_strategy: {
    type: 'static',
    static: { max_chunk_size_tokens: entry.chunkTokens, chunk_overlap_tokens: entry.overlapTokens },
  },
  attributes: entry.attributes,
});

/** A batch in that shape. */
export const batchObject = ({ id, vectorStoreId, createdAt, isCancelled, counts }: FileBatch): object => ({
  id,
  object: 'vector_store.files_batch',
  created_at: seconds(createdAt),
  vector_store_id: vectorStoreId,
  status: batchStatus(isCancelled, counts),
  file_counts: countsObject(counts),
});

function batchStatus(isCancelled: boolean, { inProgress, failed, total }: FileCounts): string {
  if (isCancelled) return 'cancelled';
  if (inProgress > 0) return 'in_progress';
  return failed === total && total > 0 ? 'failed' : 'completed';
}

/** What a search found, in that shape, with the place of each passage in the text of its file. */
export const resultsObject = (queries: readonly string[], passages: readonly Passage[]): object => ({
  object: 'vector_store.search_results.page',
  search_query: queries,
  data: passages.map(({ fileId, filename, score, attributes, text, start, end, page }) => ({
    file_id: fileId,
    filename,
    score,
    attributes,
    content: [{ type: 'text', text }],
    start,
    end,
    page,
  })),
  has_more: false,
  next_page: null,
});
