import cluster from 'node:cluster';
import { childNumber, metricsOfProcess, type Health, logger, type MetricsPage, type SharedNotes } from '#platform';
import { type ChildCalls, type ParentCalls, ProcessChannel } from './process-channel.js';

const log = logger('process');

/** The process that started this one, as one of several that serve the same port. */
export class ParentProcess {
  private readonly channel: ProcessChannel<ChildCalls, ParentCalls>;
  private observed: { readonly health: Health; readonly metrics: MetricsPage } | undefined;
  private stop: ((noticeMs: number) => void) | undefined;

  constructor(
    end: NonNullable<typeof cluster.worker>,
    /** Which of the children this one is, from 1; the one that takes the place of another takes its number. */
    readonly number: number,
  ) {
    this.channel = new ProcessChannel<ChildCalls, ParentCalls>(end, {
      series: () => this.observed?.metrics.series() ?? metricsOfProcess(),
      readiness: () => {
        if (!this.observed) throw new Error('The process is starting');
        return this.observed.health.own();
      },
      stop: (noticeMs) => this.stop?.(noticeMs),
    });
  }

  /** Lets the parent see how this process stands, and the pages of this process tell of all its siblings. */
  observe(health: Health, metrics: MetricsPage): void {
    this.observed = { health, metrics };
    metrics.standFor(() => this.channel.call('metrics'));
    health.standFor(async (own) => {
      try {
        return await this.channel.call('readiness');
      } catch (error) {
        log.warn('process.parent_silent', { error });
        return own;
      }
    });
  }

  /** Says that this process serves requests. @param stop what ends it in good order when the parent asks for that. */
  async ready(stop: (noticeMs: number) => void): Promise<void> {
    this.stop = stop;
    await this.channel.call('ready');
  }

  /** Leaves with the parent what this process has counted; it ends next. */
  async leave(): Promise<void> {
    try {
      await this.channel.call('leave', await metricsOfProcess());
    } catch (error) {
      log.warn('process.parent_silent', { error });
    }
  }

  /** Notes that all children share; the parent keeps them in memory. */
  notes(kind: string): SharedNotes {
    const { channel } = this;
    const ignore = (): void => undefined;
    return {
      read: (name) => channel.call('readNote', `${kind}:${name}`).catch(() => undefined),
      write: (name, note, seconds) => void channel.call('writeNote', `${kind}:${name}`, note, seconds).catch(ignore),
      remove: (name) => void channel.call('removeNote', `${kind}:${name}`).catch(ignore),
      close: ignore,
    };
  }
}

/** The parent of this process; undefined in one that a person or a supervisor has started. */
export const parentProcess: ParentProcess | undefined =
  cluster.worker && new ParentProcess(cluster.worker, childNumber());
