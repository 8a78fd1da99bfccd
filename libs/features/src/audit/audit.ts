import { Injectable, Optional } from '@nestjs/common';
import { Database, type ModelTransaction, type Prisma, type StatementRunner, timeOrderedId } from '#platform';
import { type AccountAction, AccountRate } from '../limits/account-rate.js';

/** The actor of a change through the admin API or the console. */
export interface Operator {
  /** The name they gave, or `admin`. */
  readonly actor: string;
  readonly requestId: string;
  readonly address: string | null;
  /** Of one who is no operator. */
  readonly accountId?: string | undefined;
}

/** For what only takes away, such as a key that leaks: it is never too much, and ends with what there is. */
export const uncounted = (operator: Operator): Operator => ({ ...operator, accountId: undefined });

/** Each leaves a record, which has up to 100 KB and is kept for AUDIT_RETENTION_DAYS. */
const CHANGES: AccountAction = {
  name: 'account-changes',
  plural: 'actions on record (changes of keys, people and settings, prompts read)',
  most: 1_000,
  within: 'day',
};

/** What a change did, for the record. Never holds secrets. */
export interface Change {
  readonly action: string;
  readonly subjectType: 'account' | 'api_key' | 'price' | 'upstream' | 'task' | 'webhook_delivery' | 'user';
  readonly subjectId: string;
  readonly before: object | null;
  readonly after: object | null;
}

/** @param before null where it was not there before, or nothing of it is worth keeping; `after` likewise. */
export const changeOf = (
  subjectType: Change['subjectType'],
  action: string,
  subjectId: string,
  before: object | null = null,
  after: object | null = null,
): Change => ({ action, subjectType, subjectId, before, after });

const WRITE_AUDIT = `
insert into audit_record (id, actor, action, subject_type, subject_id, before, after, request_id, address)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** The result of work in a transaction; a null `change` means that nothing was changed, and leaves no record. */
interface Changed<Result> {
  readonly result: Result;
  readonly change: Change | null;
}

/** Makes changes that leave a record: change and record are one transaction, so neither exists without the other. */
@Injectable()
export class AuditedChanges {
  constructor(
    private readonly database: Database,
    /** Of the processes that serve accounts. */
    @Optional() private readonly rate?: AccountRate,
  ) {}

  /**
   * Runs `work` with the models in a transaction.
   *
   * @throws GatewayError `rate_limit_exceeded`: the account has changed as much as it may in a day.
   */
  async run<Result>(
    operator: Operator,
    work: (transaction: ModelTransaction) => Promise<Changed<Result>>,
  ): Promise<Result> {
    await this.expectFewChanges(operator);
    const models = await this.database.models();
    return models.$transaction(async (transaction) => {
      const { result, change } = await work(transaction);
      if (change) await transaction.auditRecord.create({ data: recordOf(operator, change) });
      return result;
    });
  }

  /** Runs `work` with statements in a transaction; for what moves money. @throws GatewayError as `run` does. */
  async runStatements<Result>(
    operator: Operator,
    work: (transaction: StatementRunner) => Promise<Changed<Result>>,
  ): Promise<Result> {
    await this.expectFewChanges(operator);
    return this.database.transaction(async (transaction) => {
      const { result, change } = await work(transaction);
      if (change) await transaction.query({ text: WRITE_AUDIT, values: valuesOf(recordOf(operator, change)) });
      return result;
    });
  }

  private async expectFewChanges({ accountId }: Operator): Promise<void> {
    if (accountId !== undefined) await this.rate?.admit(accountId, CHANGES);
  }
}

type AuditRecord = ReturnType<typeof recordOf>;

const recordOf = ({ actor, requestId, address }: Operator, change: Change) => ({
  id: timeOrderedId('audit'),
  actor,
  action: change.action,
  subjectType: change.subjectType,
  subjectId: change.subjectId,
  ...(change.before && { before: toJson(change.before) }),
  ...(change.after && { after: toJson(change.after) }),
  requestId,
  address,
});

const valuesOf = (record: AuditRecord): unknown[] => [
  record.id,
  record.actor,
  record.action,
  record.subjectType,
  record.subjectId,
  record.before ?? null,
  record.after ?? null,
  record.requestId,
  record.address,
];

/** Amounts as text: JSON numbers end at 2^53. */
const toJson = (value: object): Prisma.InputJsonObject =>
  JSON.parse(
    JSON.stringify(value, (_name, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)),
  ) as Prisma.InputJsonObject;
