import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AccountTasks, FollowTaskService, OpenWaits } from '#features';
import { logger } from '#platform';
import { toConsoleFailure } from '../http/error-body.js';
import { EventStream } from '../http/event-stream.js';
import { toGatewayError } from '../http/to-gateway-error.js';
import { taskOf } from './views.js';

const log = logger('console');

/** Writes the changes of several tasks into one stream of server-sent events. */
@Injectable()
export class TaskStream {
  constructor(
    private readonly tasks: AccountTasks,
    private readonly follow: FollowTaskService,
    private readonly waits: OpenWaits,
  ) {}

  /** Until all tasks have ended, or the browser has left. @throws GatewayError `rate_limit_exceeded`: too many streams. */
  async write(accountId: string, taskIds: readonly string[], response: Response, gone: AbortSignal): Promise<void> {
    const leave = this.waits.enter(accountId);
    const events = new EventStream(response);
    const ended = new AbortController();
    const until = AbortSignal.any([gone, ended.signal]);
    try {
      await Promise.all(taskIds.map((taskId) => this.writeOne(accountId, taskId, events, until)));
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

  private async writeOne(accountId: string, taskId: string, events: EventStream, gone: AbortSignal): Promise<void> {
    for await (const { view } of this.follow.follow(accountId, taskId, -1, gone)) {
      const [task] = await this.tasks.named(accountId, [taskId]);
      // What is read now may be newer than the version that woke us; never older.
      await events.send(`event: task\ndata: ${JSON.stringify(task ? taskOf(task) : { id: view.id })}\n\n`);
    }
  }
}

function failureEvent(error: unknown, requestId: string): string {
  log.warn('console.stream_interrupted', { requestId, error });
  return `event: failure\ndata: ${JSON.stringify(toConsoleFailure(toGatewayError(error), requestId))}\n\n`;
}
