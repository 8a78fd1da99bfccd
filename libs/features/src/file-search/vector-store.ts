import type { FileAttributes } from '#contracts';

export interface FileCounts {
  readonly inProgress: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly total: number;
}

/** A set of files that is searched together. */
export interface VectorStore {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly expiresAfterDays: number | null;
  readonly lastActiveAt: Date;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly isExpired: boolean;
  /** Of the text of its passages. */
  readonly usageBytes: bigint;
  readonly counts: FileCounts;
}

/** How long an expired vector store is still shown, in days. */
export const STORE_SHOWN_DAYS = 30;

/** What a vector store is made with, or changed to; undefined leaves it as it is. */
export interface VectorStoreSettings {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly expiresAfterDays?: number | null | undefined;
}

export const ENTRY_STATES = ['in_progress', 'completed', 'failed', 'cancelled'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

export interface StoreEntry {
  readonly fileId: string;
  readonly vectorStoreId: string;
  readonly createdAt: Date;
  readonly state: EntryState;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly attributes: FileAttributes;
  readonly chunkTokens: number;
  readonly overlapTokens: number;
  readonly usageBytes: bigint;
}

export interface FileBatch {
  readonly id: string;
  readonly vectorStoreId: string;
  readonly createdAt: Date;
  readonly isCancelled: boolean;
  readonly counts: FileCounts;
}

/** The state of an entry (`e`) from that of its index (`i`). */
export const ENTRY_STATE = `case when e.cancelled_at is not null then 'cancelled'
  when i.state in ('completed', 'failed') then i.state else 'in_progress' end`;

/** Counts of entries (`e`) with their indexes (`i`), as `FileCounts`. */
export const COUNTS = `jsonb_build_object(
  'inProgress', count(*) filter (where ${ENTRY_STATE} = 'in_progress'),
  'completed', count(*) filter (where ${ENTRY_STATE} = 'completed'),
  'failed', count(*) filter (where ${ENTRY_STATE} = 'failed'),
  'cancelled', count(*) filter (where ${ENTRY_STATE} = 'cancelled'),
  'total', count(*))`;
