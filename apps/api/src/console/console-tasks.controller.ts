import { Param, Req, Res } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsIn, IsOptional, Matches } from 'class-validator';
import type { Request, Response } from 'express';
import {
  type ConsoleTask,
  type ConsoleTaskDetails,
  GatewayError,
  MEDIA,
  type Medium,
  PUBLIC_STATUSES,
  type PublicTaskStatus,
} from '#contracts';
import {
  AccountTasks,
  type AccountTasksQuery,
  type Caller,
  CancelTaskService,
  onlyOwnKey,
  ReadTaskService,
  SessionsService,
  WebhookDeliveriesService,
} from '#features';
import { CheckedQuery } from '../checked-input.js';
import { IsDay, IsShownText, IsText, IsWhole } from '../input-fields.js';
import { withFilesNamed } from '../routes/quote/quotes.js';
import { clientGone } from '../http/client-gone.js';
import { callerOf, CurrentCaller } from '../http/api-key.guard.js';
import { openSession } from './console-gate.js';
import { ConsoleRefusal } from '../http/error-body.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { ConsoleTaskHistory } from './console-task-history.js';
import { sessionTokenOf } from './session-cookie.js';
import { TaskStream } from './task-stream.js';
import { deliveryOf, taskOf } from './views.js';
import { Reply } from '../http/route.js';

const DAY_MS = 86_400_000;
const DELIVERIES_SHOWN = 100;

/** A part of a list in the console. */
export class ConsolePageQuery {
  @Type(() => Number) @IsWhole(1, 100) limit = 50;
  @IsOptional() @IsText(200) cursor?: string;
}

class TasksQuery extends ConsolePageQuery {
  @IsOptional() @IsIn(PUBLIC_STATUSES) status?: PublicTaskStatus;
  @IsOptional() @IsIn(MEDIA) type?: Medium;
  @IsOptional() @IsText(200) model?: string;
  @IsOptional() @IsText(80) key_id?: string;
  @IsOptional() @IsDay() from?: string;
  @IsOptional() @IsDay() to?: string;
  @IsOptional() @IsShownText(200) text?: string;
}

class FollowedQuery {
  @Matches(/^task_\w{26}(,task_\w{26}){0,49}$/, { message: 'ids must list 1 to 50 ids of tasks, separated by commas' })
  ids!: string;
}

/** The tasks of the account, as galleries and lists show them. */
@ConsoleRoutes()
export class ConsoleTasksController {
  constructor(
    private readonly tasks: AccountTasks,
    private readonly reading: ReadTaskService,
    private readonly cancellation: CancelTaskService,
    private readonly deliveries: WebhookDeliveriesService,
    private readonly life: ConsoleTaskHistory,
    private readonly stream: TaskStream,
    private readonly sessions: SessionsService,
  ) {}

  @PageRoute('GET /tasks')
  async list(@CheckedQuery(TasksQuery) query: TasksQuery, @Req() request: Request) {
    const { limit, cursor = null, ...filters } = query;
    const { items, nextCursor } = await this.tasks.list(toQuery(filters, request), { limit, cursor });
    return { items: items.map(taskOf), next_cursor: nextCursor };
  }

  /** Follows open tasks, all of a page in one stream. */
  @PageRoute('GET /tasks/events', { isQuiet: true })
  async events(
    @CheckedQuery(FollowedQuery) query: FollowedQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const ids = [...new Set(query.ids.split(','))];
    const caller = callerOf(request);
    const taskIds = await this.reading.ownOf(onlyOwnKey(caller), ids);
    const expectAllowed = () => this.expectOpen(request, caller);
    await this.stream.write({ accountId: caller.accountId, taskIds, expectAllowed }, response, clientGone(response));
  }

  /** @throws ConsoleRefusal when the session of a request has ended since, or may not read tasks of the account any more. */
  private async expectOpen(request: Request, { accountId }: Caller): Promise<void> {
    const session = await this.sessions.read(sessionTokenOf(request) ?? '');
    if (!session || session.caller?.accountId !== accountId || !session.permissions.has('tasks:read'))
      throw new ConsoleRefusal('sign_in_required', 'The session is over: sign in again.');
  }

  @PageRoute('GET /tasks/:task_id')
  async read(@Param('task_id') id: string, @Req() request: Request) {
    const caller = callerOf(request);
    const { accountId } = caller;
    await this.reading.expectOwn(onlyOwnKey(caller), id);
    const view = await this.reading.read(accountId, id);
    const order = await this.tasks.order(accountId, id);
    if (!order)
      throw new GatewayError('task_not_found', 'There is no such task in this account.', { param: 'task_id' });
    const maySeeMoney = openSession(request).permissions.has('ledger:read');
    const [{ items: deliveries }, { timeline, entries, usage }, typicalSeconds] = await Promise.all([
      this.deliveries.list(accountId, DELIVERIES_SHOWN, null, id),
      this.life.of(accountId, id),
      this.tasks.typicalSeconds(accountId, view.model),
    ]);
    const details: ConsoleTaskDetails = {
      ...taskOf({ view, ...order }),
      mode: order.mode,
      path: order.path,
      request_id: order.requestId,
      request: order.parameters && { model: view.model, ...withFilesNamed(order.parameters) },
      notices: order.notices,
      last_frame_url: view.result?.last_frame_url ?? null,
      quantity: view.usage.quantity,
      per: order.billingUnit,
      variant: order.billingVariant,
      timeline,
      entries: maySeeMoney ? entries : [],
      usage,
      deliveries: deliveries.map(deliveryOf),
      typical_seconds: typicalSeconds,
    };
    return details;
  }

  @PageRoute('POST /tasks/:task_id/cancel', { cost: 'always' })
  async cancel(@Param('task_id') id: string, @CurrentCaller() caller: Caller, @Reply() response: Response) {
    await this.reading.expectOwn(onlyOwnKey(caller), id);
    await this.cancellation.cancel(caller.accountId, id, clientGone(response));
    const [task] = await this.tasks.named(caller.accountId, [id]);
    if (!task) throw new GatewayError('task_not_found', 'There is no such task in this account.', { param: 'task_id' });
    return taskOf(task) satisfies ConsoleTask;
  }
}

/** A key that sees only its own tasks narrows whatever is requested. */
function toQuery(
  { status, type, model, key_id, from, to, text }: Omit<TasksQuery, 'limit' | 'cursor'>,
  request: Request,
): AccountTasksQuery {
  const caller = callerOf(request);
  return {
    accountId: caller.accountId,
    keyId: onlyOwnKey(caller) ?? key_id ?? null,
    status: status ?? null,
    medium: type ?? null,
    model: model ?? null,
    createdFromMs: from === undefined ? null : Math.max(0, Date.parse(from)),
    createdToMs: to === undefined ? null : Math.max(0, Date.parse(to) + DAY_MS - 1),
    text: text ?? null,
  };
}
