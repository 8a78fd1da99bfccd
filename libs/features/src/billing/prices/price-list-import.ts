import { formatMicros, shortDecimal } from '#contracts';
import { type StatementRunner, timeOrderedId } from '#platform';
import { missingInBands, type MissingPrice, type PriceOf, shownVariant } from './bands.js';
import type { DatedRule, FileList } from './check-prices.js';
import { grouped } from './price-rules.js';

/** What a rule says, in the form in which files have it. */
type SaidRule = { readonly factor: string } | { readonly amount: string; readonly per_quantity: number };

/** A rule of a file against the one of the same list, scope and moment that is there. */
export type RuleDifference = SaidRule & {
  readonly list: string;
  readonly model: string;
  readonly unit?: string;
  readonly variant?: string;
  readonly from_input_tokens?: number;
  readonly effective_from: string;
  /** What the list says; null: nothing yet. */
  readonly was: SaidRule | null;
};

export interface ImportedLists {
  /** Lists that are new or have another name. */
  readonly named: readonly string[];
  readonly added: readonly RuleDifference[];
  /** Rules that are not yet in force, and so may still be corrected. */
  readonly changed: readonly RuleDifference[];
  readonly unchanged: number;
  /** Rules that have been in force and said something else. With one of them, nothing is imported. */
  readonly conflicts: readonly RuleDifference[];
}

interface ListedRule extends DatedRule {
  readonly list: string;
}

interface ComparedRow {
  readonly position: number;
  readonly id: string | null;
  readonly factor_millionths: bigint | null;
  readonly amount_micros: bigint | null;
  readonly per_quantity: bigint | null;
  readonly is_future: boolean | null;
}

const SENT = `jsonb_to_recordset($1::jsonb) as s(position integer, id text, list_id text, model text, unit text, variant text,
  from_input_tokens bigint, factor_millionths bigint, amount_micros bigint, per_quantity bigint, effective_from timestamptz)`;
const COMPARE = `
select s.position, r.id, r.factor_millionths, r.amount_micros, r.per_quantity, r.effective_from > now() as is_future
from ${SENT} left join price_list_rule r on r.list_id = s.list_id and r.model = s.model and r.effective_from = s.effective_from
  and r.unit is not distinct from s.unit and r.variant is not distinct from s.variant
  and r.from_input_tokens is not distinct from s.from_input_tokens
order by s.position`;
/** $1 ids, $2 names. */
const NAMED = `
select s.id from unnest($1::text[], $2::text[]) as s(id, name) left join price_list l using (id)
where l.id is null or l.name <> s.name order by s.id`;
const WRITE_LISTS = `
insert into price_list (id, name, created_by) select s.id, s.name, $3 from unnest($1::text[], $2::text[]) as s(id, name)
on conflict (id) do update set name = excluded.name where price_list.name <> excluded.name`;
/** Another replica that starts with the same file may have been quicker. */
const WRITE_RULES = `
insert into price_list_rule (id, list_id, model, unit, variant, from_input_tokens, factor_millionths, amount_micros, per_quantity,
  effective_from, created_by)
select s.id, s.list_id, s.model, s.unit, s.variant, s.from_input_tokens, s.factor_millionths, s.amount_micros, s.per_quantity,
  s.effective_from, $2 from ${SENT}
on conflict (list_id, model, scope, effective_from) do update
set factor_millionths = excluded.factor_millionths, amount_micros = excluded.amount_micros, per_quantity = excluded.per_quantity,
  created_by = excluded.created_by
where price_list_rule.effective_from > now()`;

/** So many prices or rules go in one statement: more would keep other work waiting. */
const AT_ONCE = 500;

export function* partsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += AT_ONCE) yield items.slice(from, from + AT_ONCE);
}

const rulesIn = (lists: readonly FileList[]): ListedRule[] =>
  lists.flatMap(({ id, rules }) => rules.map((rule) => ({ ...rule, list: id })));

const namesOf = (lists: readonly FileList[]): [string[], string[]] => [
  lists.map(({ id }) => id),
  lists.map(({ name }) => name),
];

export async function compareLists(
  runner: Pick<StatementRunner, 'query'>,
  lists: readonly FileList[],
): Promise<ImportedLists> {
  const found = { added: [], changed: [], unchanged: [], conflicts: [] } as Record<Compared, RuleDifference[]>;
  for (const part of partsOf(rulesIn(lists))) {
    const { rows } = await runner.query<ComparedRow>({ text: COMPARE, values: [JSON.stringify(part.map(toSent))] });
    for (const row of rows) {
      const rule = part[row.position];
      if (rule) found[kindOf(row, rule)].push({ list: rule.list, ...scopeOf(rule), ...saidOf(rule), was: wasOf(row) });
    }
  }
  const { rows } = await runner.query<{ id: string }>({ text: NAMED, values: namesOf(lists) });
  return { ...found, unchanged: found.unchanged.length, named: rows.map(({ id }) => id) };
}

export async function writeLists(
  transaction: StatementRunner,
  lists: readonly FileList[],
  actor: string,
): Promise<void> {
  await transaction.query({ text: WRITE_LISTS, values: [...namesOf(lists), actor] });
  for (const part of partsOf(rulesIn(lists)))
    await transaction.query({ text: WRITE_RULES, values: [JSON.stringify(part.map(toSent)), actor] });
}

type Compared = 'added' | 'changed' | 'unchanged' | 'conflicts';

function kindOf(row: ComparedRow, rule: DatedRule): Compared {
  if (row.id === null) return 'added';
  const isSame =
    row.factor_millionths === rule.factorMillionths &&
    row.amount_micros === rule.amountMicros &&
    row.per_quantity === rule.perQuantity;
  if (isSame) return 'unchanged';
  return row.is_future ? 'changed' : 'conflicts';
}

const toSent = (rule: ListedRule, position: number): object => ({ position, list_id: rule.list, ...sentRule(rule) });

/** A rule as statements take it. Null: it begins now. */
export const sentRule = (rule: Omit<DatedRule, 'effectiveFrom'> & { readonly effectiveFrom: Date | null }): object => ({
  id: timeOrderedId('rule'),
  model: rule.model,
  unit: rule.unit,
  variant: rule.variant,
  from_input_tokens: rule.fromInputTokens,
  factor_millionths: rule.factorMillionths?.toString(),
  amount_micros: rule.amountMicros?.toString(),
  per_quantity: rule.perQuantity?.toString(),
  effective_from: rule.effectiveFrom?.toISOString(),
});

/** A factor is written without the zeros at its end, as people write it. */
const saidOf = ({
  factorMillionths,
  amountMicros,
  perQuantity,
}: Pick<DatedRule, 'factorMillionths' | 'amountMicros' | 'perQuantity'>): SaidRule =>
  factorMillionths === null
    ? { amount: formatMicros(amountMicros ?? 0n), per_quantity: Number(perQuantity ?? 1n) }
    : { factor: shortDecimal(factorMillionths) };

const wasOf = (row: ComparedRow): SaidRule | null =>
  row.id === null
    ? null
    : saidOf({
        factorMillionths: row.factor_millionths,
        amountMicros: row.amount_micros,
        perQuantity: row.per_quantity,
      });

const scopeOf = ({ model, unit, variant, fromInputTokens, effectiveFrom }: DatedRule) => ({
  model,
  ...(unit !== null && { unit }),
  ...(variant !== null && { variant }),
  ...(fromInputTokens !== null && { from_input_tokens: fromInputTokens }),
  effective_from: effectiveFrom.toISOString(),
});

/** In words: what stands in the way of an import. */
export const ruleConflictText = ({ list, model, unit = 'all units', effective_from: from }: RuleDifference): string =>
  `the list ${list} has said something else of ${model} (${unit}) since ${from}; give the new rule a later effective_from`;

/** A price list in the form of PRICES_FILE. */
export interface ExportedList {
  readonly id: string;
  readonly name: string;
  readonly rules: readonly object[];
}

/** Of each rule the one in force, and all that are to come; of a list without any, its name. */
const EXPORT = `
select l.id as list, l.name, r.id, r.model, r.unit, r.variant, r.from_input_tokens::int as "fromInputTokens",
  r.factor_millionths as "factorMillionths", r.amount_micros as "amountMicros", r.per_quantity as "perQuantity",
  r.effective_from as "effectiveFrom"
from price_list l left join price_list_rule r on r.list_id = l.id and (r.effective_from > now() or r.effective_from = (
  select max(o.effective_from) from price_list_rule o
  where (o.list_id, o.model, o.scope) = (r.list_id, r.model, r.scope) and o.effective_from <= now()))
order by l.id, r.model, r.scope, r.effective_from`;

/** So many rules stand in an entry: one that is longer is read at once, which keeps other work waiting. */
const RULES_OF_ENTRY = 32;

/** All lists, long ones in several entries. */
export async function exportLists(runner: Pick<StatementRunner, 'query'>): Promise<ExportedList[]> {
  const { rows } = await runner.query<ListedRule & { readonly id: string | null; readonly name: string }>({
    text: EXPORT,
  });
  return [...grouped(rows, ({ list }) => list)].flatMap(([id, ofList]) => {
    const name = ofList[0]?.name ?? '';
    const rules = ofList.filter((row) => row.id !== null).map((rule) => ({ ...scopeOf(rule), ...saidOf(rule) }));
    const entries = Array.from({ length: Math.ceil(rules.length / RULES_OF_ENTRY) }, (_, index) =>
      rules.slice(index * RULES_OF_ENTRY, (index + 1) * RULES_OF_ENTRY),
    );
    return (entries.length === 0 ? [[]] : entries).map((of) => ({ id, name, rules: of }));
  });
}

/** $1 models, $2 lists, $3 models of which all lists are meant. Prices of the book, whose list is null, and own amounts of the lists. */
const OF_LISTS = `
select null::text as list, model, unit, variant, from_input_tokens::int as "fromInputTokens", effective_from as "effectiveFrom"
from price where model = any($1) and withdrawn_at is null
union all
select list_id, model, unit, coalesce(variant, 'default'), coalesce(from_input_tokens, 0)::int, effective_from
from price_list_rule where model = any($1) and (list_id = any($2) or model = any($3)) and amount_micros is not null`;

type Dated = PriceOf & { readonly effectiveFrom: Date };
type OfList = Dated & { readonly list: string | null };

/**
 * What bands of own amounts would lack where these rules are in the lists, and these prices in the book, as well: a band is whole or not at
 * all. A price of the book concerns each list that has own amounts of its model.
 */
export async function missingInLists(
  runner: Pick<StatementRunner, 'query'>,
  lists: readonly Pick<FileList, 'id' | 'rules'>[],
  prices: readonly Dated[] = [],
): Promise<MissingPrice[]> {
  const amounts = lists.flatMap(({ id, rules }) =>
    rules
      .filter(({ amountMicros }) => amountMicros !== null)
      .map(({ model, unit, variant, fromInputTokens, effectiveFrom }) => ({
        list: id,
        model,
        unit: unit ?? '',
        variant: variant ?? 'default',
        fromInputTokens: fromInputTokens ?? 0,
        effectiveFrom,
      })),
  );
  const sent = grouped(prices, ({ model }) => model);
  const models = new Set([...amounts.map(({ model }) => model), ...sent.keys()]);
  if (models.size === 0) return [];
  const { rows } = await runner.query<OfList>({
    text: OF_LISTS,
    values: [[...models], [...new Set(amounts.map(({ list }) => list))], [...sent.keys()]],
  });
  const book = grouped(
    rows.filter(({ list }) => list === null),
    ({ model }) => model,
  );
  const added = grouped(amounts, nameOf);
  const known = grouped(
    rows.filter(({ list }) => list !== null),
    nameOf,
  );
  return [...new Set([...added.keys(), ...known.keys()])].flatMap((name) => {
    const ofList = [...(known.get(name) ?? []), ...(added.get(name) ?? [])];
    const { list, model } = ofList[0]!;
    const news = [...(sent.get(model) ?? []), ...(added.get(name) ?? [])];
    if (news.length === 0) return [];
    const since = new Date(Math.min(...news.map(({ effectiveFrom }) => effectiveFrom.getTime())));
    const all = [...(book.get(model) ?? []), ...(sent.get(model) ?? []), ...ofList];
    const named = all.map((price) => ({ ...price, variant: shownVariant(price.variant) }));
    return missingInBands(named, since).map((price) => ({ ...price, list: list ?? '' }));
  });
}

const nameOf = ({ list, model }: OfList): string => JSON.stringify([list, model]);
