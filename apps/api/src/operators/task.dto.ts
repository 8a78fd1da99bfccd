import { applyDecorators } from '@nestjs/common';
import { IsIn, IsISO8601, IsOptional, Matches } from 'class-validator';
import {
  MEDIA,
  type Medium,
  PUBLIC_STATUSES,
  type PublicTaskStatus,
  TASK_TRANSITIONS,
  type TaskState,
} from '#contracts';
import type { TaskSearch } from '#features';
import { Described } from '../http/input-schema.js';
import { IsAmount, IsShownText, IsText, IsTrueOrFalse } from '../input-fields.js';
import { ListQuery } from '../list-query.js';

const ID = /^[\w.:-]{1,100}$/;
const ID_RULE = { message: '$property must be an id: 1 to 100 letters, digits or any of _ . : -' };
const TIME_RULE = { message: '$property must be a time such as 2026-11-20T03:00:00Z' };

/** What a list is narrowed to, by an id. */
const IsId = (note: string): PropertyDecorator => applyDecorators(Described(note), IsOptional(), Matches(ID, ID_RULE));

/** The same by a moment. */
const IsTime = (note: string): PropertyDecorator =>
  applyDecorators(Described(note), IsOptional(), IsISO8601({ strict: true }, TIME_RULE));

/** What to look for among all tasks. */
export class TaskSearchQuery extends ListQuery {
  @IsId('The id of the task.') task_id?: string;
  @IsId('The `x-request-id` of the submission.') request_id?: string;
  @IsId('Only of this account.') account_id?: string;
  @IsId('Only of this key.') api_key_id?: string;
  @Described('Only of this model.') @IsOptional() @IsText(200) model?: string;
  @Described('Only of this kind.') @IsOptional() @IsIn(MEDIA) type?: Medium;
  @Described('As clients see it.') @IsOptional() @IsIn(PUBLIC_STATUSES) status?: PublicTaskStatus;
  @Described('As the gateway keeps it.') @IsOptional() @IsIn(Object.keys(TASK_TRANSITIONS)) state?: TaskState;
  @IsId('Why it failed.') error_code?: string;
  @Described('What the vendor calls the work, exactly.') @IsOptional() @IsShownText(500) vendor_id?: string;

  @Described("The vendor's id of a request about the task, exactly.")
  @IsOptional()
  @IsShownText(128)
  vendor_request_id?: string;

  @IsTime('Submitted at or after this time.') created_from?: string;
  @IsTime('Submitted at or before this time.') created_to?: string;
}

export const toTaskSearch = (query: TaskSearchQuery): TaskSearch => ({
  taskId: query.task_id ?? null,
  requestId: query.request_id ?? null,
  accountId: query.account_id ?? null,
  keyId: query.api_key_id ?? null,
  model: query.model ?? null,
  medium: query.type ?? null,
  status: query.status ?? null,
  state: query.state ?? null,
  errorCode: query.error_code ?? null,
  vendorId: query.vendor_id ?? null,
  vendorRequestId: query.vendor_request_id ?? null,
  createdFromMs: timeOf(query.created_from),
  createdToMs: timeOf(query.created_to),
});

/** Ids name no moment before 1970. */
const timeOf = (text: string | undefined): number | null => (text === undefined ? null : Math.max(0, Date.parse(text)));

/** Why an operator does it. */
export class ReasonBody {
  @IsOptional() @IsShownText(1_000) reason?: string;
}

/** Money to be given back. */
export class RefundBody {
  @IsOptional()
  @IsAmount('Decimal text with at most six places. Absent: all that is left of the charge.')
  amount?: string;

  @Described('Names the case; the same reference again changes nothing.')
  @Matches(/^[\w.:/-]{1,100}$/, { message: 'reference must be 1 to 100 letters, digits or any of _ . : / -' })
  reference!: string;

  @IsShownText(1_000) reason!: string;
}

export class DeliveriesQuery extends ListQuery {
  @IsId('Only of this account.') account_id?: string;
  @IsId('Only to this endpoint.') endpoint_id?: string;
  @IsId('Only of this task.') task_id?: string;

  @Described('Only of this status.')
  @IsOptional()
  @IsIn(['pending', 'delivered', 'failed'])
  status?: 'pending' | 'delivered' | 'failed';
}

export class WorkersQuery {
  @Described('true: also those that fell silent within the last day.')
  @IsTrueOrFalse()
  all: 'true' | 'false' = 'false';
}
