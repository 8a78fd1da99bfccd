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
import { Described } from '../../http/input-schema.js';
import { IsAmount, IsShownText, IsText, IsTrueOrFalse } from '../../input-fields.js';
import { ListQuery } from '../../list-query.js';

const ID = /^[\w.:-]{1,100}$/;
const ID_RULE = { message: '$property must be an id: 1 to 100 letters, digits or any of _ . : -' };
const TIME_RULE = { message: '$property must be a time such as 2026-11-20T03:00:00Z' };

/** What to look for among all tasks. */
export class TaskSearchQuery extends ListQuery {
  @IsOptional() @Matches(ID, ID_RULE) task_id?: string;
  @IsOptional() @Matches(ID, ID_RULE) request_id?: string;
  @IsOptional() @Matches(ID, ID_RULE) account_id?: string;
  @IsOptional() @Matches(ID, ID_RULE) api_key_id?: string;
  @IsOptional() @IsText(200) model?: string;
  @IsOptional() @IsIn(MEDIA) type?: Medium;
  @IsOptional() @IsIn(PUBLIC_STATUSES) status?: PublicTaskStatus;
  @IsOptional() @IsIn(Object.keys(TASK_TRANSITIONS)) state?: TaskState;
  @IsOptional() @Matches(ID, ID_RULE) error_code?: string;
  /** What the vendor calls the work, exactly. */
  @IsOptional() @IsShownText(500) vendor_id?: string;
  /** The vendor's id of a request about the task, exactly. */
  @IsOptional() @IsShownText(128) vendor_request_id?: string;
  @IsOptional() @IsISO8601({ strict: true }, TIME_RULE) created_from?: string;
  @IsOptional() @IsISO8601({ strict: true }, TIME_RULE) created_to?: string;
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

/** Which webhook deliveries. */
export class DeliveriesQuery extends ListQuery {
  @IsOptional() @Matches(ID, ID_RULE) account_id?: string;
  @IsOptional() @Matches(ID, ID_RULE) endpoint_id?: string;
  @IsOptional() @Matches(ID, ID_RULE) task_id?: string;
  @IsOptional() @IsIn(['pending', 'delivered', 'failed']) status?: 'pending' | 'delivered' | 'failed';
}

export class WorkersQuery {
  /** true: also those that fell silent within the last day. */
  @IsTrueOrFalse() all: 'true' | 'false' = 'false';
}
