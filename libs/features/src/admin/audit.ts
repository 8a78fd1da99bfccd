import { Database, type StatementRunner, timeOrderedId } from '#platform';

/** Who makes a change through the admin API. */
export interface Operator {
  /** The name they gave, or `admin`. */
  readonly actor: string;
  readonly requestId: string;
  readonly address: string | null;
}

/** What a change did, for the record. Never holds secrets. */
export interface Change {
  readonly action: string;
  readonly subjectType: 'account' | 'api_key' | 'price' | 'upstream' | 'task' | 'webhook_delivery';
  readonly subjectId: string;
  readonly before: object | null;
  readonly after: object | null;
}

const WRITE_AUDIT = `
insert into audit_record (id, actor, action, subject_type, subject_id, before, after, request_id, address)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** Makes changes that leave a record: change and record are one transaction, so neither exists without the other. */
export class AuditedChanges {
  constructor(private readonly database: Database) {}

  /** Runs `work` in a transaction; a null `change` says that nothing was changed, and leaves no record. */
  run<Result>(
    operator: Operator,
    work: (transaction: StatementRunner) => Promise<{ readonly result: Result; readonly change: Change | null }>,
  ): Promise<Result> {
    return this.database.transaction(async (transaction) => {
      const { result, change } = await work(transaction);
      if (change) await transaction.query({ text: WRITE_AUDIT, values: auditValues(operator, change) });
      return result;
    });
  }
}

const auditValues = ({ actor, requestId, address }: Operator, change: Change): unknown[] => [
  timeOrderedId('audit'),
  actor,
  change.action,
  change.subjectType,
  change.subjectId,
  toJson(change.before),
  toJson(change.after),
  requestId,
  address,
];

/** Amounts as text: JSON numbers end at 2^53. */
const toJson = (value: object | null): string | null =>
  value && JSON.stringify(value, (_name, field: unknown) => (typeof field === 'bigint' ? field.toString() : field));
