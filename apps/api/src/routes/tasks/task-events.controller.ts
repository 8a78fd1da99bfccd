import { Controller, Get, Param, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '#contracts';
import { type Caller, FollowTaskService, onlyOwnKey, OpenWaits, ReadTaskService, type VersionedTask } from '#features';
import { logger } from '#platform';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { toErrorBody, toGatewayError } from '../../http/error-body.js';
import { EventStream } from '../../http/event-stream.js';
import { Route, Routes } from '../../http/route.js';
import { clientGone } from '../../http/client-gone.js';
import { TASK_OPERATIONS } from './tasks.openapi.js';

const log = logger('task-events');

/** The life of a task as server-sent events. */
@Controller('v1/tasks')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'tasks', scope: 'tasks:read' })
export class TaskEventsController {
  constructor(
    private readonly tasks: ReadTaskService,
    private readonly follow: FollowTaskService,
    private readonly waits: OpenWaits,
  ) {}

  /**
   * The task now and at each change, until it is final: `event: task.<status>`, the id is the task's version. A client
   * that comes back with `Last-Event-ID` gets only what it has not seen; 204 when that was the end, so that it stops.
   * `event: error` says why nothing more comes: the key may not read tasks any more, or this process ends.
   */
  @Get(':task_id/events')
  @Route({ operation: TASK_OPERATIONS.followTask, answer: 'native' })
  async events(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const knownVersion = lastEventId(request);
    await this.tasks.expectOwn(onlyOwnKey(caller), taskId);
    const { view, version } = await this.tasks.readVersioned(caller.accountId, taskId);
    if (view.usage.final && version <= knownVersion) {
      response.status(204).end();
      return;
    }
    const leave = this.waits.enter(caller.accountId);
    const gone = clientGone(response);
    try {
      const tasks = this.follow.follow(caller.accountId, taskId, knownVersion, gone);
      const expectAllowed = async (): Promise<void> => request.expectStillAllowed?.();
      await stream(tasks, response, { gone, expectAllowed });
    } finally {
      leave();
    }
  }
}

async function stream(
  tasks: AsyncGenerator<VersionedTask, void, undefined>,
  response: Response,
  { gone, expectAllowed }: { readonly gone: AbortSignal; readonly expectAllowed: () => Promise<void> },
): Promise<void> {
  const events = new EventStream(response);
  try {
    // A client that reads slowly gets fewer, newer events instead of a growing buffer.
    for await (const task of tasks) {
      await expectAllowed();
      await events.send(toEvent(task));
    }
  } catch (error) {
    if (!gone.aborted) {
      log.warn('task-events.interrupted', { requestId: response.req.requestId, error });
      await events.send(`event: error\ndata: ${JSON.stringify(toErrorBody(toGatewayError(error)))}\n\n`);
    }
  } finally {
    events.end();
  }
}

const toEvent = ({ version, view }: VersionedTask): string =>
  `id: ${version}\nevent: task.${view.status}\ndata: ${JSON.stringify(view)}\n\n`;

/** @throws GatewayError `invalid_parameter`: the header is not the id of an event. */
function lastEventId(request: Request): number {
  const header = request.get('last-event-id')?.trim() ?? '';
  if (header === '') return -1;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const message = 'Last-Event-ID must be the id of an earlier event of this task, a whole number.';
  throw new GatewayError('invalid_parameter', message, { param: 'Last-Event-ID' });
}
