import { type InfiniteData, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { pathOf } from './call';
import { queryClient } from './queries';
import type { ConsoleTask, ConsoleTaskDetails } from './types';

/** As many as the server follows in one stream. */
const MOST_IDS = 50;
const AGAIN_MS = 5_000;

type Listener = (task: ConsoleTask, before: ConsoleTask | undefined) => void;

/**
 * Follows open tasks over one stream for the whole tab, shared by all parts of the page. A hidden tab holds no stream; a visible
 * one opens it again, and each stream starts with the state of every task.
 */
class LiveTasks {
  private readonly wanted = new Map<string, number>();
  private readonly last = new Map<string, ConsoleTask>();
  private readonly listeners = new Set<Listener>();
  private source: EventSource | null = null;
  private followed = '';
  private pending: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly client: QueryClient) {
    document.addEventListener('visibilitychange', () => this.change());
  }

  /** Follows a task until the returned function is called. */
  follow(id: string): () => void {
    this.wanted.set(id, (this.wanted.get(id) ?? 0) + 1);
    this.change();
    return () => {
      const count = (this.wanted.get(id) ?? 1) - 1;
      if (count > 0) this.wanted.set(id, count);
      else this.wanted.delete(id);
      this.change();
    };
  }

  onChange(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Once for all that is requested in the same moment. */
  private change(delayMs = 0): void {
    this.pending ??= setTimeout(() => {
      this.pending = null;
      this.connect();
    }, delayMs);
  }

  private connect(): void {
    const ids =
      document.visibilityState === 'visible' ? [...this.wanted.keys()].sort().slice(0, MOST_IDS).join(',') : '';
    if (ids === this.followed && this.source) return;
    this.close();
    if (ids === '') return;
    this.followed = ids;
    this.source = new EventSource(pathOf('/tasks/events', {}, { ids }));
    this.source.addEventListener('task', ({ data }) => this.take(JSON.parse(String(data)) as ConsoleTask));
    this.source.addEventListener('end', () => this.close());
    for (const name of ['failure', 'error']) this.source.addEventListener(name, () => this.retry());
  }

  private close(): void {
    this.source?.close();
    this.source = null;
    this.followed = '';
  }

  /** The stream broke or was refused: what is shown is read the ordinary way, and the stream tried again. */
  private retry(): void {
    this.close();
    void this.client.invalidateQueries({ queryKey: ['GET /tasks'] });
    this.change(AGAIN_MS);
  }

  private take(task: ConsoleTask): void {
    const before = this.last.get(task.id);
    this.last.set(task.id, task);
    this.client.setQueriesData<InfiniteData<{ items: readonly ConsoleTask[] }>>(
      { queryKey: ['GET /tasks'] },
      (data) =>
        data && {
          ...data,
          pages: data.pages.map((page) => ({
            ...page,
            items: page.items.map((each) => (each.id === task.id ? task : each)),
          })),
        },
    );
    this.client.setQueriesData<ConsoleTaskDetails>(
      { queryKey: ['GET /tasks/:task_id', { task_id: task.id }] },
      (data) => data && { ...data, ...task },
    );
    if (task.is_final && before?.is_final !== true) {
      for (const route of ['GET /tasks/:task_id', 'GET /billing', 'GET /billing/entries', 'GET /overview'])
        void this.client.invalidateQueries({ queryKey: [route] });
    }
    for (const listener of this.listeners) listener(task, before);
  }
}

export const liveTasks = new LiveTasks(queryClient);

/** Keeps those of the tasks that are open up to date while they are shown. */
export function useLiveTasks(tasks: readonly Pick<ConsoleTask, 'id' | 'is_final'>[]): void {
  const open = tasks
    .filter((task) => !task.is_final)
    .map(({ id }) => id)
    .join(',');
  useEffect(() => {
    const ends = open
      .split(',')
      .filter(Boolean)
      .map((id) => liveTasks.follow(id));
    return () => ends.forEach((end) => end());
  }, [open]);
}
