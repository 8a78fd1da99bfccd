import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AccountTasks, FollowTaskService, OpenWaits } from '#features';
import { logger } from '#platform';
import { ConsoleRefusal, toConsoleFailure, toGatewayError } from '../http/error-body.js';
import { EventStream } from '../http/event-stream.js';
import { taskOf } from './views.js';

const log = logger('console');

/** What a stream tells, and whether it still may. */
export interface Followed {
  readonly accountId: string;
  readonly taskIds: readonly string[];
  readonly expectAllowed: () => Promise<void>;
}

/** Writes the changes of several tasks into one stream of server-sent events. */
@Injectable()
export class TaskStream {
  constructor(
    private readonly tasks: AccountTasks,
    private readonly follow: FollowTaskService,
    private readonly waits: OpenWaits,
  ) {}

  /**
   * Until all tasks have ended, or the browser has left. `expectAllowed` is asked before anything is told, and throws once
   * the session is over.
   *
   * @throws GatewayError `rate_limit_exceeded`: too many streams.
   */
  async write({ accountId, taskIds, expectAllowed }: Followed, response: Response, gone: AbortSignal): Promise<void> {
    const leave = this.waits.enter(accountId);
    const events = new EventStream(response);
    const ended = new AbortController();
    const until = AbortSignal.any([gone, ended.signal]);
    try {
      const tell = async (task: object): Promise<void> => {
        await expectAllowed();
        await events.send(`event: task\ndata: ${JSON.stringify(task)}\n\n`);
      };
      await Promise.all(taskIds.map((taskId) => this.followOne(accountId, taskId, tell, until)));
      await events.send('event: end\ndata: {}\n\n');
    } catch (error) {
      if (!gone.aborted) await events.send(failureEvent(error, response.req.requestId));
    } finally {
      // Where one failed, the others are not followed on.
      ended.abort();
      leave();
      events.end();
    }
  }

  private async followOne(
    accountId: string,
    taskId: string,
    tell: (task: object) => Promise<void>,
    gone: AbortSignal,
  ): Promise<void> {
    for await (const { view } of this.follow.follow(accountId, taskId, -1, gone)) {
      const [task] = await this.tasks.named(accountId, [taskId]);
      // What is read now may be newer than the version that woke us; never older.
      await tell(task ? taskOf(task) : { id: view.id });
    }
  }
}

function failureEvent(error: unknown, requestId: string): string {
  if (!(error instanceof ConsoleRefusal)) log.warn('console.stream_interrupted', { requestId, error });
  return `event: failure\ndata: ${JSON.stringify(toConsoleFailure(toGatewayError(error), requestId))}\n\n`;
}
