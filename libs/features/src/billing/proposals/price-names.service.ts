import { Injectable } from '@nestjs/common';
import { familyOf, GatewayError } from '#contracts';
import { Database } from '#platform';
import { AuditedChanges, changeOf, type Operator } from '../../audit/audit.js';
import { STORAGE_MODEL } from '../prices/check-prices.js';
import type { ListSource } from './listed-models.js';

/** What an operator said of an id of a list. */
export interface PriceName {
  readonly source: ListSource;
  /** Of the list. */
  readonly id: string;
  /** Null: none of our models. */
  readonly model: string | null;
}

/** More names than any list has models of ours. */
const NAMES_MAX = 10_000;

const SAVE = `
insert into price_name (source, list_id, model, created_by) values ($1, $2, $3, $4)
on conflict (source, list_id) do update set model = excluded.model, created_by = excluded.created_by, created_at = now()`;
const LIST = `
select source, list_id as id, model from price_name where $1::text is null or source = $1 order by source, list_id limit ${NAMES_MAX}`;

/** The names of public lists that operators corrected: kept for every later proposal. */
@Injectable()
export class PriceNamesService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** @param source null: of all. */
  async all(source: ListSource | null = null): Promise<readonly PriceName[]> {
    return (await this.database.query<PriceName>({ text: LIST, values: [source] })).rows;
  }

  /** @throws GatewayError `invalid_parameter`: the model is not sold by tokens, or there are too many names. */
  async save(operator: Operator, name: PriceName): Promise<PriceName> {
    const { source, id, model } = name;
    if (model !== null && (familyOf(model) || model === STORAGE_MODEL))
      throw GatewayError.ofField('model', `must be a text model: "${model}" is not sold by tokens`);
    await this.changes.runStatements(operator, async (transaction) => {
      const { rows } = await transaction.query<{ count: number }>({
        text: 'select count(*)::int as count from price_name',
      });
      if ((rows[0]?.count ?? 0) >= NAMES_MAX)
        throw new GatewayError('invalid_parameter', `At most ${NAMES_MAX} names can be kept.`, { param: 'id' });
      await transaction.query({ text: SAVE, values: [source, id, model, operator.actor] });
      return { result: undefined, change: changeOf('price', 'price_name.set', id, null, name) };
    });
    return name;
  }
}
