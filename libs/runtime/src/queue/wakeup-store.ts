import type { BackendFactory, IQueueBackend } from 'bullmq';

/** What the queues are kept in: the only difference between running on Redis and on Postgres. */
export interface WakeupStore {
  /** Connects queues, which must never hang while the server is away. */
  readonly forNotifying: BackendFactory<IQueueBackend, object>;
  /** Connects workers, which wait for the server as long as it takes. */
  readonly forListening: BackendFactory<IQueueBackend, object>;
  /** Beginning of the names under which the store keeps its data, where it needs one. */
  readonly prefix?: string;
  /** Resolves when the server answers and takes work; rejects or stays silent when it does not. */
  ping(): Promise<unknown>;
  /** Why the server may lose what it takes, in words for operators; null: it does not. Absent: it never does. */
  weakness?(): Promise<string | null>;
  /** Closes the connections that queues and workers share. */
  close(): Promise<void>;
}
