import { IsOptional, IsString, MaxLength } from 'class-validator';
import { type Request, type Response, Router, urlencoded } from 'express';
import type { Operator } from '#features';
import { operatorOf } from '../admin/admin-gate.js';
import { ReasonBody, RefundBody } from '../admin/task.dto.js';
import { amountOf, checked } from '../../checked-input.js';
import { clientGone } from '../../http/client-gone.js';
import { filled } from './filter-form.js';
import type { OpsServices } from './ops-services.js';

class ReasonForm extends ReasonBody {
  /** The actor for the audit: all admins share one token. */
  @IsOptional() @IsString() @MaxLength(100) actor?: string;
}

class RefundForm extends RefundBody {
  @IsOptional() @IsString() @MaxLength(100) actor?: string;
}

type TaskRequest = Request<{ task_id: string }>;

/** What the forms of a task page send; the gate lets them through for admins on our own pages only. */
export function taskActions({ remedies }: Pick<OpsServices, 'remedies'>): Router {
  const router = Router();
  const readForm = urlencoded({ extended: false, limit: '16kb', parameterLimit: 10 });
  router.post('/:task_id/cancel', readForm, async (request: TaskRequest, response: Response) => {
    const { reason = null, actor } = checked(ReasonForm, filled(request.body));
    const { task_id: taskId } = request.params;
    await remedies.cancel(asOperator(request, actor), taskId, reason, clientGone(response));
    showTask(response, taskId, 'cancel');
  });
  router.post('/:task_id/refund', readForm, async (request: TaskRequest, response: Response) => {
    const { amount, reference, reason, actor } = checked(RefundForm, filled(request.body));
    const { task_id: taskId } = request.params;
    const amountMicros = amount === undefined ? null : amountOf(amount, 'amount');
    const operator = asOperator(request, actor);
    const { replayed } = await remedies.refund(operator, { taskId, amountMicros, reference, reason });
    showTask(response, taskId, replayed ? 'replayed' : 'refund');
  });
  router.post('/:task_id/redrive', readForm, async (request: TaskRequest, response: Response) => {
    const { reason = null, actor } = checked(ReasonForm, filled(request.body));
    const made = await remedies.redrive(asOperator(request, actor), request.params.task_id, reason);
    showTask(response, made.new_task_id, 'redrive');
  });
  return router;
}

function asOperator(request: Request<{ task_id: string }>, actor: string | undefined): Operator {
  const operator = operatorOf(request);
  return actor === undefined ? operator : { ...operator, actor };
}

/** Another request, so that loading the page again does nothing again. */
const showTask = (response: Response, taskId: string, done: string): void =>
  response.redirect(303, `/ops/tasks/${encodeURIComponent(taskId)}?done=${done}`);
