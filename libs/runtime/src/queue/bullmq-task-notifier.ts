import { type IQueueBackend, Queue, type Telemetry, Worker } from 'bullmq';
import { MEDIA, type QueueName, type TaskJob } from '#contracts';
import { BLOCKING_WAIT_SECONDS, logger, queueTelemetry, TimeoutError, within, withLogContext } from '#platform';
import { WakeupBuffer } from './wakeup-buffer.js';
import type { WakeupStore } from './wakeup-store.js';
import type { WakeupQueue, Listening, ListenOptions, TaskNotifier, TaskHandler } from './task-notifier.js';

const log = logger('queue');

/** An outage repeats its complaint many times a second; the log says it this often. */
const COMPLAINT_INTERVAL_MS = 10_000;
const PING_TIMEOUT_MS = 1_000;
/** How long handlers get to end after their signal was aborted, and connections to close. */
const LAST_MOMENT_MS = 1_000;

/** The most traces remembered for wake-ups that were not sent yet. */
const TRACES_MAX = 10_000;

/** What failed stays for people watching the queues, and decides nothing. An answered wake-up says no more than its task, and keeping it took Redis seven commands. */
const KEPT = { removeOnComplete: { count: 0 }, removeOnFail: { count: 500 } } as const;
const JOB_OPTIONS = { ...KEPT, attempts: 1 } as const;

/** Only a dashboard reads the events of these queues; BullMQ would keep 10,000. */
const EVENTS_MAX = 100;

/** Wait before the next fetch after a failed one; BullMQ would wait 15 s. */
const FETCH_RETRY_DELAY_MS = 1_000;

type WakeupWorker = Worker<TaskJob, void, string, IQueueBackend, number, object>;

interface Wakeup {
  readonly queue: WakeupQueue;
  readonly buffer: WakeupBuffer;
}

/** The notifier over BullMQ; what the queues are stored in is the store's matter. */
export class BullmqTaskNotifier implements TaskNotifier {
  private readonly wakeups: ReadonlyMap<QueueName, Wakeup>;
  private readonly listeners = new Set<BullmqListening>();
  private readonly telemetry = queueTelemetry();
  /** Wake-ups are sent together but belong to the traces of their senders. */
  private readonly traces = new Map<string, string>();
  private lastComplaintMs = Number.NEGATIVE_INFINITY;
  private closing: Promise<void> | undefined;

  constructor(private readonly store: WakeupStore) {
    this.wakeups = new Map(MEDIA.map((name) => [name, this.openWakeup(name)]));
  }

  notify(queue: QueueName, taskIds: readonly string[]): void {
    if (this.closing !== undefined) return;
    this.rememberTrace(taskIds);
    this.wakeups.get(queue)?.buffer.add(taskIds);
  }

  notifyHereFirst(queue: QueueName, taskIds: readonly string[]): void {
    let left = taskIds;
    for (const listening of this.listeners) if (listening.queue === queue) left = listening.answerHere(left);
    if (left.length > 0) this.notify(queue, left);
  }

  listen(queue: QueueName, options: ListenOptions, handler: TaskHandler): Listening {
    const listening = new BullmqListening(this.store, queue, options, handler, this.telemetry);
    listening.worker.on('error', (error) => this.complain('listener.failed', { queue, error }));
    this.listeners.add(listening);
    return listening;
  }

  isHealthy(): Promise<boolean> {
    return answers(this.store);
  }

  async unfitness(): Promise<string | null> {
    if (!(await this.isHealthy())) return 'the queue takes no work';
    // A server that does not tell, and may not, is no worse than one that is asked nothing.
    return (await this.store.weakness?.().catch(() => null)) ?? null;
  }

  queues(): readonly WakeupQueue[] {
    return [...this.wakeups.values()].map(({ queue }) => queue);
  }

  close(graceMs: number): Promise<void> {
    return (this.closing ??= this.closeAll(graceMs));
  }

  private openWakeup(name: QueueName): Wakeup {
    const queue: WakeupQueue = new Queue(
      name,
      {
        ...connectionOf(this.store),
        defaultJobOptions: JOB_OPTIONS,
        streams: { events: { maxLen: EVENTS_MAX } },
        ...telemetryOf(this.telemetry),
      },
      this.store.forNotifying,
    );
    queue.on('error', (error) => this.complain('wakeup.failed', { queue: name, error }));
    const send = (taskIds: string[]): Promise<unknown> => queue.addBulk(taskIds.map((taskId) => this.toJob(taskId)));
    const report = (dropped: number, error: unknown): void =>
      this.complain('wakeup.dropped', { queue: name, dropped, error });
    return { queue, buffer: new WakeupBuffer(send, report) };
  }

  private rememberTrace(taskIds: readonly string[]): void {
    if (this.telemetry === undefined || this.traces.size > TRACES_MAX) return;
    const { contextManager } = this.telemetry;
    const trace = contextManager.getMetadata(contextManager.active());
    if (trace !== '{}') for (const taskId of taskIds) this.traces.set(taskId, trace);
  }

  private toJob(taskId: string) {
    const metadata = this.traces.get(taskId);
    this.traces.delete(taskId);
    return { name: 'task', data: { taskId }, ...(metadata !== undefined && { opts: { telemetry: { metadata } } }) };
  }

  private async closeAll(graceMs: number): Promise<void> {
    await Promise.all([...this.listeners].map((listening) => listening.stop(graceMs)));
    const wakeups = [...this.wakeups.values()];
    await endsWithin(Promise.all(wakeups.map(({ buffer }) => buffer.drained())), LAST_MOMENT_MS);
    await endsWithin(Promise.allSettled(wakeups.map(({ queue }) => queue.close())), LAST_MOMENT_MS);
    await endsWithin(this.store.close(), LAST_MOMENT_MS);
  }

  private complain(event: string, fields: { queue: QueueName; dropped?: number; error: unknown }): void {
    const nowMs = performance.now();
    if (nowMs - this.lastComplaintMs < COMPLAINT_INTERVAL_MS) return;
    this.lastComplaintMs = nowMs;
    log.warn(event, fields);
  }
}

class BullmqListening implements Listening {
  readonly worker: WakeupWorker;
  private readonly running = new Set<Promise<void>>();
  /** Of `running`, those that came without the queue. */
  private here = 0;
  private readonly ending = new AbortController();
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly store: WakeupStore,
    readonly queue: QueueName,
    private readonly options: ListenOptions,
    private readonly handler: TaskHandler,
    telemetry: Telemetry | undefined,
  ) {
    this.worker = new Worker(
      queue,
      // BullMQ passes the signal only to processors that declare all three parameters.
      (job, _token, signal) => this.handle(job.data.taskId, signal ?? new AbortController().signal),
      {
        ...connectionOf(store),
        concurrency: options.concurrency,
        runRetryDelay: FETCH_RETRY_DELAY_MS,
        drainDelay: BLOCKING_WAIT_SECONDS,
        ...KEPT,
        ...telemetryOf(telemetry),
      },
      store.forListening,
    );
  }

  /** Begins the tasks that there is room for. Returns the others. */
  answerHere(taskIds: readonly string[]): readonly string[] {
    const room = this.stopping ? 0 : Math.max(0, (this.options.room?.() ?? 0) - this.here);
    for (const taskId of taskIds.slice(0, room)) {
      this.here += 1;
      void this.handle(taskId, this.ending.signal)
        .catch(() => undefined)
        .finally(() => (this.here -= 1));
    }
    return taskIds.slice(room);
  }

  stop(graceMs: number): Promise<void> {
    return (this.stopping ??= this.stopWithin(graceMs));
  }

  private handle(taskId: string, signal: AbortSignal): Promise<void> {
    const work = withLogContext({ taskId }, async () => {
      try {
        await this.handler(taskId, signal);
      } catch (error) {
        log.error('task-handler.failed', { queue: this.queue, error });
        throw error;
      }
    });
    this.running.add(work);
    return work.finally(() => this.running.delete(work));
  }

  private async stopWithin(graceMs: number): Promise<void> {
    await this.worker.pause(true);
    if (!(await endsWithin(this.allDone(), graceMs))) {
      this.worker.cancelAllJobs('The process is ending.');
      this.ending.abort();
      await endsWithin(this.allDone(), LAST_MOMENT_MS);
    }
    // BullMQ would wait forever for handlers that ignore their signal, and for a server that is away.
    const byForce = this.running.size > 0 || !(await answers(this.store));
    await endsWithin(this.worker.close(byForce), LAST_MOMENT_MS);
  }

  private async allDone(): Promise<true> {
    await Promise.allSettled(this.running);
    return true;
  }
}

/** The store's factories bring the connections; BullMQ only wants to see one. */
const connectionOf = ({ prefix }: WakeupStore) => ({ connection: {}, ...(prefix === undefined ? {} : { prefix }) });

/** True when the server of the store answers within a second. */
async function answers(store: WakeupStore): Promise<boolean> {
  const answered = store.ping().then(
    () => true,
    () => false,
  );
  return within(answered, PING_TIMEOUT_MS).catch(() => false);
}

const telemetryOf = (telemetry: Telemetry | undefined) => (telemetry === undefined ? {} : { telemetry });

/** Whether it ended in time; what takes longer goes on. */
async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  try {
    await within(work, limitMs);
    return true;
  } catch (error) {
    if (error instanceof TimeoutError) return false;
    throw error;
  }
}
