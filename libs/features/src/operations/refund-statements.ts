import { entrySql, type LedgerKind, type Micros } from '#contracts';
import { type StatementRunner, timeOrderedId } from '#platform';
import type { Operator } from '../audit/audit.js';

/** An entry of the ledger under a reference, and the task it was for if it is a refund. */
export interface EarlierRefund {
  readonly id: bigint;
  readonly kind: LedgerKind;
  readonly amount_micros: bigint;
  readonly task_id: string | null;
}

/** $1 account, $2 reference. */
export const FIND_REFUND = `
select e.id, e.kind, e.amount_micros, r.task_id from ledger_entry e left join task_refund r on r.entry_id = e.id
where e.account_id = $1 and e.reference = $2`;

/** $1 task. */
export const REFUNDED = `
select coalesce(sum(amount_micros), 0)::bigint as refunded from task_refund where task_id = $1`;

/**
 * $1 task id, $2 amount, $3 reference, $4 reason, $5 actor, $6 id of the usage record, $7 id of the operator's request. The money, the
 * sums that follow from the ledger and the record that explains it, in one statement. It counts for the day on which it
 * was given: days that are over are summed up already.
 */
const ENTER_REFUND = `
with refunded as (
  select * from task where id = $1
), entered as (
  insert into ledger_entry (account_id, api_key_id, request_id, kind, debit, credit, amount_micros, reference, note)
  select account_id, api_key_id, request_id, ${entrySql('refund')}, $2::bigint, $3, $4 from refunded
  returning id
), noted as (
  insert into task_refund (entry_id, task_id, amount_micros, actor, reason) select id, $1, $2::bigint, $5, $4 from entered
), paid as (
  update account a set available_micros = a.available_micros + $2::bigint, used_micros = a.used_micros - $2::bigint
  from refunded r where a.id = r.account_id
), keyed as (
  update api_key k set used_micros = k.used_micros - $2::bigint from refunded r where k.id = r.api_key_id
), explained as (
  insert into usage_record (id, account_id, api_key_id, kind, model, task_id, request_id, upstream, status, amount_micros, lines)
  select $6, account_id, api_key_id, medium, model, id, $7, provider, 'refunded', -$2::bigint,
    jsonb_build_array(jsonb_build_object('source', 'refund', 'reference', $3::text, 'amount_micros', (-$2::bigint)::text))
  from refunded
), summed as (
  insert into usage_daily as d (account_id, day, model, api_key_id, kind, amount_micros)
  select account_id, (now() at time zone 'utc')::date, model, api_key_id, medium, -$2::bigint from refunded
  on conflict (account_id, day, model, api_key_id) do update set amount_micros = d.amount_micros + excluded.amount_micros
)
select id from entered`;

/** Books a refund whose account is locked, and answers the id of its entry. */
export async function enterRefund(
  transaction: StatementRunner,
  task: { readonly id: string },
  refund: { readonly amountMicros: Micros; readonly reference: string; readonly reason: string },
  { actor, requestId }: Operator,
): Promise<bigint> {
  const { amountMicros, reference, reason } = refund;
  const values = [task.id, amountMicros, reference, reason, actor, timeOrderedId('usage'), requestId];
  const { rows } = await transaction.query<{ id: bigint }>({ text: ENTER_REFUND, values });
  return rows[0]?.id ?? 0n;
}
