/** What a subscriber hears: the tasks that changed, or `all` when changes may have been missed. */
export type ChangedTasks = readonly string[] | 'all';

/**
 * Tells other processes that task rows have changed, after the change was committed. A signal carries no state and may get
 * lost; its consumers also read the rows from time to time.
 */
export interface TaskSignals {
  /** Notifies all processes without waiting. Never throws: while the server is unreachable, signals are dropped. */
  publish(taskIds: readonly string[]): void;
  /**
   * Calls `listener` for every signal, over one connection for the whole process, which is opened now and again
   * whenever it was lost. At most one subscriber.
   */
  subscribe(listener: (changed: ChangedTasks) => void): void;
  /** Sends what is still kept and closes the connections. */
  close(): Promise<void>;
}

/** The most task ids in one message: Postgres takes 8,000 bytes, an id has 31. */
export const MESSAGE_IDS_MAX = 200;

/** Task ids as messages of a bounded length. */
export function toMessages(taskIds: readonly string[]): string[] {
  const messages: string[] = [];
  for (let start = 0; start < taskIds.length; start += MESSAGE_IDS_MAX) {
    messages.push(taskIds.slice(start, start + MESSAGE_IDS_MAX).join(','));
  }
  return messages;
}

export const fromMessage = (message: string): string[] => message.split(',');
