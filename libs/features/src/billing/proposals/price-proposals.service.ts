import { Inject, Injectable } from '@nestjs/common';
import { type AdminPriceProposal, GatewayError, parseMicros, SPECIFIED_TEXT_MODELS } from '#contracts';
import { Database, nextTurn, type StatementRunner, timeOrderedId, Turns } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { AuditedChanges, changeOf, type Operator } from '../../audit/audit.js';
import type { ShownRow } from '../../paging/page.js';
import { TextUpstreams } from '../../upstreams/text-upstreams.js';
import { TextUpstreamsService } from '../../upstreams/upstream-admin.js';
import { storedVariant, VARIANT } from '../prices/bands.js';
import type { DatedPrice } from '../prices/check-prices.js';
import { auditedImport, type ImportedPrices, importOn, missingText } from '../prices/price-import.js';
import { grouped } from '../prices/price-rules.js';
import { ListNames } from './list-names.js';
import { type ListedModel, listedModels, type ListSource, UnreadList } from './listed-models.js';
import { PriceNamesService } from './price-names.service.js';
import { type ProposalItem, proposedItems } from './proposal-items.js';
import type { BookPrice, ProposalTerms } from './proposed-prices.js';
import { type ListPlace, readList } from './read-list.js';

export interface NewProposal extends ProposalTerms {
  readonly source: ListSource;
  readonly place: ListPlace;
  /** Null: when it is applied. */
  readonly effectiveFrom: Date | null;
}

/** A proposal without its items. */
export interface ProposalView extends ShownRow {
  readonly id: string;
  readonly source: ListSource;
  readonly factor_millionths: bigint;
  readonly rounding: string | null;
  readonly effective_from: Date | null;
  readonly state: AdminPriceProposal['state'];
}

export interface ProposalChange {
  readonly proposal: ProposalView;
  /** Prices that were added to the book, or taken out of it. */
  readonly added: number;
  /** Prices to come that were corrected, or put back. */
  readonly changed: number;
  readonly prices: readonly DatedPrice[];
}

/** The most items of a proposal: what is of models of ours comes first. */
const ITEMS_MAX = 20_000;
/** The most proposals that are kept; the oldest that nobody applied goes first. */
const KEPT_MAX = 50;
const KEPT_DAYS = 7;
const AT_ONCE = 500;

const VIEW = `
select id, source, origin, sha256, factor_millionths, rounding, effective_from, counts, created_at, created_by, expires_at,
  applied_at, applied_by, undone_at, undone_by,
  case when undone_at is not null then 'undone' when applied_at is not null then 'applied'
    when expires_at <= now() then 'expired' else 'open' end as state
from price_proposal`;
const FIND = `${VIEW} where id = $1`;
const LIST = `${VIEW} order by created_at desc limit ${KEPT_MAX}`;
const ITEMS = 'select item from price_proposal_item where proposal_id = $1 order by position';
const CHOSEN = `
select item, model, book_mark from price_proposal_item where proposal_id = $1 and id = any($2) order by position`;

const ADD = `
insert into price_proposal (id, source, origin, sha256, factor_millionths, rounding, effective_from, counts, created_by, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + interval '${KEPT_DAYS} days')`;
const ADD_ITEMS = `
insert into price_proposal_item (proposal_id, position, id, model, book_mark, item)
select $1, i.position, i.id, i.model, i.book_mark, i.item
from jsonb_to_recordset($2::jsonb) as i(position integer, id text, model text, book_mark text, item jsonb)`;
/** One that is being applied or undone stays until the next time. */
const FORGET = `
delete from price_proposal where id in (
  select id from price_proposal where expires_at <= now() or id in (
    select id from price_proposal order by applied_at is null, created_at desc offset ${KEPT_MAX - 1})
  for update skip locked)`;

/** Of each price the one that is in force at $2, and those to come. */
const BOOK = `
select distinct on (p.model, p.unit, p.variant) id, model, unit, ${VARIANT}, from_input_tokens::int as "fromInputTokens",
  amount_micros as "amountMicros", per_quantity as "perQuantity", effective_from as "effectiveFrom"
from price p where withdrawn_at is null and effective_from <= $2 and model = any($1)
order by p.model, p.unit, p.variant, effective_from desc`;
const BOOK_TO_COME = `
select id, model, unit, ${VARIANT}, from_input_tokens::int as "fromInputTokens", amount_micros as "amountMicros",
  per_quantity as "perQuantity", effective_from as "effectiveFrom"
from price p where withdrawn_at is null and effective_from > $2 and model = any($1)`;

/** What is sold by tokens, or was, or will be. */
const PRICED_TEXT = `select distinct model from price where unit = 'input_token' and withdrawn_at is null`;

/** What stands in the book of each model, in one word: it differs wherever a price does. */
const MARKS = `
select model, md5(string_agg(concat_ws(' ', id, amount_micros, per_quantity, effective_from), ',' order by id)) as mark
from price where model = any($1) and withdrawn_at is null group by model`;

/** Other changes of prices wait; requests read on. */
const LOCK = 'lock table price in share row exclusive mode';
const LOCK_PROPOSAL = 'select applied from price_proposal where id = $1 for update';
const APPLIED = `
update price_proposal set applied_at = now(), applied_by = $2, applied = $3 where id = $1`;
const UNDONE = 'update price_proposal set undone_at = now(), undone_by = $2 where id = $1';

/** The prices to come that an import will correct, as they are. $1 models, units and variants, $2 the moment. */
const BEFORE = `
select coalesce(jsonb_agg(to_jsonb(p)), '[]') as prices
from price p join jsonb_to_recordset($1::jsonb) as s(model text, unit text, variant text) using (model, unit, variant)
where p.effective_from = $2 and p.effective_from > now()`;

/** What was in force stays for the charges that name it. */
const WITHDRAW = `
update price set withdrawn_at = now() where proposal_id = $1 and effective_from <= now() and withdrawn_at is null and id <> all($2)`;
const REMOVE = 'delete from price where proposal_id = $1 and effective_from > now() and id <> all($2)';
const OLD = `jsonb_to_recordset($1::jsonb) as o(id text, model text, unit text, variant text, from_input_tokens bigint,
  amount_micros bigint, per_quantity bigint, created_by text, proposal_id text)`;
/** Those to come are put back; those that came into force are followed by what they were. $2 ids of new prices. */
const PUT_BACK = `
with old as (select o.*, row_number() over () as place from ${OLD}),
back as (
  update price p set amount_micros = old.amount_micros, per_quantity = old.per_quantity, created_by = old.created_by,
    proposal_id = old.proposal_id
  from old where p.id = old.id and p.effective_from > now() returning p.id)
insert into price (id, model, unit, variant, from_input_tokens, amount_micros, per_quantity, effective_from, created_by)
select ($2::text[])[old.place], old.model, old.unit, old.variant, old.from_input_tokens, old.amount_micros, old.per_quantity,
  now(), old.created_by
from old join price p using (id) where p.effective_from <= now()`;

interface Applied {
  /** Prices to come as they were. */
  readonly changed: readonly { readonly id: string }[];
  /** Of each model when it was done. */
  readonly marks: Readonly<Record<string, string>>;
}

/** Prices that lists propose: nothing of them holds until a person has said yes, and one step takes all of it back. */
@Injectable()
export class PriceProposalsService {
  private isReading = false;

  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
    private readonly names: PriceNamesService,
    private readonly upstreams: TextUpstreams,
    private readonly settings: TextUpstreamsService,
    @Inject(PLATFORM) private readonly platform: Pick<Platform, 'fetcher'>,
  ) {}

  /** The newest first. */
  async all(): Promise<readonly ProposalView[]> {
    return (await this.database.query<ProposalView>({ text: LIST })).rows;
  }

  /** @throws GatewayError `not_found`. */
  async one(id: string): Promise<ProposalView> {
    return proposalOn(this.database, id);
  }

  /** @throws GatewayError `not_found`. */
  async items(id: string): Promise<readonly ProposalItem[]> {
    await this.one(id);
    const { rows } = await this.database.query<{ item: ProposalItem }>({ text: ITEMS, values: [id] });
    return rows.map(({ item }) => item);
  }

  /**
   * The prices that items would put into the book.
   *
   * @param chosen ids of items; undefined: those that are ticked.
   * @throws GatewayError `not_found`; `invalid_parameter`: an id is no item, or could not be applied.
   */
  async pricesOf(id: string, chosen?: readonly string[]): Promise<readonly DatedPrice[]> {
    await this.one(id);
    const ticked = async () => (await this.items(id)).flatMap((item) => (item.ticked ? item.id : []));
    return datedPrices(await chosenItems(this.database, id, chosen ?? (await ticked())), new Date());
  }

  /**
   * Reads a list and holds it against the book.
   *
   * @throws GatewayError `invalid_parameter`: the list cannot be read; `conflict`: this process reads another one; as `readList`.
   */
  async create(operator: Operator, asked: NewProposal, signal: AbortSignal): Promise<ProposalView> {
    if (this.isReading) throw new GatewayError('conflict', 'Another list is being read: try again when it is done.');
    this.isReading = true;
    try {
      return await this.read(operator, asked, signal);
    } finally {
      this.isReading = false;
    }
  }

  private async read(operator: Operator, asked: NewProposal, signal: AbortSignal): Promise<ProposalView> {
    const { source, place, effectiveFrom, rounding, factorMillionths } = asked;
    const list = await readList(place, this.platform.fetcher, this.upstreams, signal);
    const listed = await this.listed(source, list.text, place);
    const names = await this.namesOf(source);
    const entries = names.of(listed);
    const models = [...new Set(entries.flatMap(({ named }) => named?.model ?? []))];
    // Marks are read first: what changes in between is then found when the proposal is applied.
    const marks = await marksOn(this.database, models);
    const at = latest(effectiveFrom, new Date());
    const sources = { names, terms: asked, book: await this.bookOf(models, at), upstreams: this.upstreams, at };
    const offered = 'upstream' in place ? this.offeredBy(place.upstream) : undefined;
    const { items, unchanged } = await proposedItems(entries, { ...sources, offered });
    const kept = items.slice(0, ITEMS_MAX);
    const id = timeOrderedId('proposal');
    const counts = { read: listed.length, unchanged, unlisted: items.length - kept.length };
    const said = [
      id,
      source,
      list.origin,
      list.sha256,
      factorMillionths,
      rounding,
      effectiveFrom,
      JSON.stringify(counts),
    ];
    await this.changes.runStatements(operator, async (transaction) => {
      await transaction.query({ text: FORGET });
      await transaction.query({ text: ADD, values: [...said, operator.actor] });
      await addItems(transaction, id, kept, marks);
      const after = { source, origin: list.origin, sha256: list.sha256, factor_millionths: factorMillionths, rounding };
      return { result: undefined, change: changeOf('price', 'price_proposal.added', id, null, after) };
    });
    return this.one(id);
  }

  private async listed(source: ListSource, text: string, place: ListPlace): Promise<readonly ListedModel[]> {
    const param = 'url' in place ? 'url' : 'upstream' in place ? 'upstream' : 'file';
    try {
      const models = await listedModels(source, text);
      if (models.length > 0) return models;
      throw new UnreadList('it holds no model with prices by tokens');
    } catch (error) {
      if (!(error instanceof UnreadList)) throw error;
      throw new GatewayError('invalid_parameter', `${param} is not a list in the form ${source}: ${error.message}.`, {
        param,
        cause: error,
      });
    }
  }

  private async namesOf(source: ListSource): Promise<ListNames> {
    const saved = new Map((await this.names.all(source)).map(({ id, model }) => [id, model]));
    const { rows } = await this.database.query<{ model: string }>({ text: PRICED_TEXT });
    const models = [
      ...SPECIFIED_TEXT_MODELS.map(({ id }) => id),
      ...this.upstreams.models(),
      ...this.upstreams.embeddingModels(),
      ...rows.map(({ model }) => model),
    ];
    return new ListNames(saved, models, await this.settings.list());
  }

  private offeredBy(id: string): ReadonlySet<string> | undefined {
    const upstream = this.upstreams.all.find(({ provider }) => provider.id === id);
    return upstream?.models && new Set(upstream.models.values());
  }

  private async bookOf(models: readonly string[], at: Date): Promise<ReadonlyMap<string, readonly BookPrice[]>> {
    const read = async (text: string) => (await this.database.query<BookPrice>({ text, values: [models, at] })).rows;
    return grouped([...(await read(BOOK)), ...(await read(BOOK_TO_COME))], ({ model }) => model);
  }

  /**
   * Puts the prices of chosen items into the book, all or nothing, once: a second time adds nothing.
   *
   * @param chosen ids of items.
   * @throws GatewayError `not_found`; `invalid_parameter`: an id is no item, or cannot be applied; `conflict`: prices changed since, or the
   * proposal is undone or too old.
   */
  async apply(operator: Operator, id: string, chosen: readonly string[]): Promise<ProposalChange> {
    const done = await this.changes.runStatements(operator, async (transaction) => {
      await transaction.query({ text: LOCK_PROPOSAL, values: [id] });
      const proposal = await proposalOn(transaction, id);
      if (proposal.state === 'applied') return { result: { added: 0, changed: 0, prices: [] }, change: null };
      expectOpen(proposal);
      await transaction.query({ text: LOCK });
      const items = await chosenItems(transaction, id, chosen);
      const models = items.map(({ model }) => model);
      const marks = new Map(items.map(({ model, mark }) => [model, mark]));
      expectSame(await marksOn(transaction, models), marks, 'this proposal was made');
      const from = latest(proposal.effective_from, await timeOf(transaction));
      const prices = await datedPrices(items, from);
      const before = await pricesBefore(transaction, prices, from);
      const imported = await importOn(transaction, prices, operator.actor, id);
      expectImported(imported);
      const applied: Applied = { changed: before, marks: Object.fromEntries(await marksOn(transaction, models)) };
      await transaction.query({ text: APPLIED, values: [id, operator.actor, JSON.stringify(applied)] });
      const { source, origin, sha256, factor_millionths, rounding } = proposal;
      const after = { source, origin, sha256, factor_millionths, rounding, ...auditedImport(imported) };
      const result = { added: imported.added.length, changed: imported.changed.length, prices };
      return { result, change: changeOf('price', 'price_proposal.applied', id, null, after) };
    });
    return { proposal: await this.one(id), ...done };
  }

  /**
   * Takes back what was applied: the book says again what it said before.
   *
   * @throws GatewayError `not_found`; `conflict`: it is not applied, or prices of its models changed since.
   */
  async undo(operator: Operator, id: string): Promise<ProposalChange> {
    const done = await this.changes.runStatements(operator, async (transaction) => {
      const { rows } = await transaction.query<{ applied: Applied | null }>({ text: LOCK_PROPOSAL, values: [id] });
      const proposal = await proposalOn(transaction, id);
      const applied = rows[0]?.applied;
      if (proposal.state !== 'applied' || !applied)
        throw new GatewayError('conflict', `The proposal is ${proposal.state}: only what is applied can be undone.`);
      await transaction.query({ text: LOCK });
      const { changed, marks } = applied;
      expectSame(
        await marksOn(transaction, Object.keys(marks)),
        new Map(Object.entries(marks)),
        'this proposal was applied',
      );
      const kept = changed.map((price) => price.id);
      const withdrawn = await transaction.query({ text: WITHDRAW, values: [id, kept] });
      const removed = await transaction.query({ text: REMOVE, values: [id, kept] });
      const ids = changed.map(() => timeOrderedId('price'));
      if (changed.length > 0) await transaction.query({ text: PUT_BACK, values: [JSON.stringify(changed), ids] });
      await transaction.query({ text: UNDONE, values: [id, operator.actor] });
      const added = (withdrawn.rowCount ?? 0) + (removed.rowCount ?? 0);
      const after = { removed: added, put_back: changed.length };
      return {
        result: { added, changed: changed.length, prices: [] },
        change: changeOf('price', 'price_proposal.undone', id, null, after),
      };
    });
    return { proposal: await this.one(id), ...done };
  }
}

/** @throws GatewayError `not_found`. */
async function proposalOn(runner: Pick<StatementRunner, 'query'>, id: string): Promise<ProposalView> {
  const { rows } = await runner.query<ProposalView>({ text: FIND, values: [id] });
  if (rows[0]) return rows[0];
  throw new GatewayError('not_found', `There is no proposal "${id.slice(0, 64)}".`, { param: 'proposal_id' });
}

async function addItems(
  transaction: StatementRunner,
  id: string,
  items: readonly ProposalItem[],
  marks: ReadonlyMap<string, string>,
): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const rows = items.slice(from, from + AT_ONCE).map((item, index) => ({
      position: from + index,
      id: item.id,
      model: item.model,
      book_mark: item.model === null ? null : (marks.get(item.model) ?? ''),
      item,
    }));
    await transaction.query({ text: ADD_ITEMS, values: [id, JSON.stringify(rows)] });
    await nextTurn();
  }
}

async function marksOn(
  runner: Pick<StatementRunner, 'query'>,
  models: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await runner.query<{ model: string; mark: string }>({ text: MARKS, values: [models] });
  const found = new Map(rows.map(({ model, mark }) => [model, mark]));
  return new Map(models.map((model) => [model, found.get(model) ?? '']));
}

/** @throws GatewayError `conflict` that names the models whose prices changed. */
function expectSame(now: ReadonlyMap<string, string>, then: ReadonlyMap<string, string>, when: string): void {
  const changed = [...then].flatMap(([model, mark]) => (now.get(model) === mark ? [] : [model]));
  if (changed.length === 0) return;
  const more = changed.length > NAMED_MAX ? ` and ${changed.length - NAMED_MAX} more` : '';
  throw new GatewayError(
    'conflict',
    `Prices of ${changed.slice(0, NAMED_MAX).join(', ')}${more} changed since ${when}: nothing was done.`,
    { param: 'proposal_id' },
  );
}
const NAMED_MAX = 10;

function expectOpen({ state }: ProposalView): void {
  if (state === 'open') return;
  const why = state === 'undone' ? 'was undone' : `is older than ${KEPT_DAYS} days`;
  throw new GatewayError('conflict', `The proposal ${why}: make a new one.`, { param: 'proposal_id' });
}

interface ChosenItem extends ProposalItem {
  readonly model: string;
  readonly mark: string;
}

/** @throws GatewayError `invalid_parameter` that names the item and what is wrong with it. */
async function chosenItems(
  transaction: Pick<StatementRunner, 'query'>,
  id: string,
  chosen: readonly string[],
): Promise<readonly ChosenItem[]> {
  const { rows } = await transaction.query<{ item: ProposalItem; book_mark: string | null }>({
    text: CHOSEN,
    values: [id, chosen],
  });
  const known = new Set(rows.map(({ item }) => item.id));
  const strange = chosen.find((each) => !known.has(each));
  if (strange !== undefined) throw refused(strange, 'is not an item of this proposal');
  const models = new Set<string>();
  return rows.map(({ item, book_mark: mark }) => {
    const { model, missing, proposed } = item;
    if (model === null)
      throw refused(
        item.id,
        'belongs to no known model: say which with PUT /admin/v1/price-names, and make the proposal again',
      );
    if (proposed.length === 0) throw refused(item.id, 'has no price in the list');
    if (missing.length > 0)
      throw refused(item.id, `would leave a price band incomplete: it lacks ${missing.slice(0, NAMED_MAX).join(', ')}`);
    if (models.has(model)) throw refused(item.id, `is for ${model}, like another chosen item`);
    models.add(model);
    return { ...item, model, mark: mark ?? '' };
  });
}

const refused = (item: string, why: string): GatewayError =>
  new GatewayError('invalid_parameter', `items: "${item.slice(0, 200)}" ${why}. Nothing was applied.`, {
    param: 'items',
  });

/** What items change in the book, with the moment from which it holds. */
async function datedPrices(items: readonly ChosenItem[], effectiveFrom: Date): Promise<readonly DatedPrice[]> {
  const prices: DatedPrice[] = [];
  const turns = new Turns();
  for (const { model, proposed } of items) {
    for (const {
      unit,
      variant,
      from_input_tokens: fromInputTokens,
      amount,
      per_quantity: quantity,
      is_change,
    } of proposed)
      if (is_change) {
        const price = { amountMicros: parseMicros(amount), perQuantity: BigInt(quantity), effectiveFrom };
        prices.push({ model, unit, variant, fromInputTokens, ...price });
      }
    if (turns.isOver) await nextTurn(turns);
  }
  return prices;
}

async function pricesBefore(
  transaction: StatementRunner,
  prices: readonly DatedPrice[],
  from: Date,
): Promise<Applied['changed']> {
  const names = prices.map(({ model, unit, variant, fromInputTokens }) => ({
    model,
    unit,
    variant: storedVariant(variant, fromInputTokens),
  }));
  const { rows } = await transaction.query<{ prices: Applied['changed'] }>({
    text: BEFORE,
    values: [JSON.stringify(names), from],
  });
  return rows[0]?.prices ?? [];
}

/** @throws GatewayError where the book would not take the prices. */
function expectImported({ conflicts: [conflict], missing }: ImportedPrices): void {
  if (missing.length > 0)
    throw new GatewayError('invalid_parameter', `Nothing was applied: ${missingText(missing)}.`, { param: 'items' });
  if (conflict)
    throw new GatewayError(
      'conflict',
      `Nothing was applied: ${conflict.model} ${conflict.unit} ${conflict.variant} has another price since ${conflict.effective_from}.`,
      { param: 'items' },
    );
}

/** Whether a price has begun is judged by the clock of the database. */
async function timeOf(transaction: StatementRunner): Promise<Date> {
  const { rows } = await transaction.query<{ now: Date }>({ text: 'select now() as now' });
  if (!rows[0]) throw new Error('the database did not return its time');
  return rows[0].now;
}

const latest = (one: Date | null, other: Date): Date => (one && one > other ? one : other);
