import { GatewayError, isIdentifier } from '#contracts';
import { MARGIN_GROUPS, type RecordsQuery, USAGE_GROUPS, type UsageGroup, type UsageQuery } from '#features';
import { Type } from 'class-transformer';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { Described } from './http/input-schema.js';
import { IsDay, IsText, IsWhole } from './input-fields.js';

/** Which part of a list, and in which form. */
export class ListQuery {
  @Described('Rows of one page.') @Type(() => Number) @IsWhole(1, 1_000) limit = 50;

  @Described('The `next_cursor` of the page before.') @IsOptional() @IsText(200) cursor?: string;
  @Described('CSV holds the whole list.') @IsIn(['json', 'csv']) format: 'json' | 'csv' = 'json';
}

/** Movements of money. */
export class EntriesQuery extends ListQuery {
  @Described('Only entries of this task.') @IsOptional() @IsText(80) task_id?: string;
  @Described('Only entries of this text request.') @IsOptional() @IsText(200) request_id?: string;
}

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

/** A list over days, both ends included; the last 30 days unless said otherwise, at most 366. */
export class UsageListQuery extends ListQuery {
  @Described(
    'First day in the time zone of the account (UTC unless it has one, and for operators); 30 days by default.',
  )
  @IsOptional()
  @IsDay()
  from?: string;

  @Described('Last day, at most 366 days after the first (31 by day in a time zone of its own); today by default.')
  @IsOptional()
  @IsDay()
  to?: string;
}

/** What upstreams earned and cost. */
export class MarginsQuery extends UsageListQuery {
  @Described(`Any of ${MARGIN_GROUPS.join(', ')}, separated by commas.`) @IsString() group_by = 'upstream,model';
}

class TaggedListQuery extends UsageListQuery {
  @Described('Of work with this tag.') @IsOptional() @IsText(64) tag?: string;
}

export class UsageRecordsQuery extends TaggedListQuery {
  @Described('Of this session of an agent.') @IsOptional() @IsText(256) session?: string;
  @Described('For this end user.') @IsOptional() @IsText(128) end_user?: string;
  @Described('Of this request, on whatever day unless days are given.') @IsOptional() @IsText(200) request_id?: string;
}

/** Sums over days, kept apart by what `group_by` lists. */
export class UsageSumsQuery extends TaggedListQuery {
  @Described('Any of day, model and key, or of day and tag, separated by commas.')
  @IsString()
  group_by = 'day,model,key';
}

/**
 * @param timeZone of the days; null: UTC.
 * @throws GatewayError `invalid_parameter`: no such day, or the days are in the wrong order or too many.
 */
export function daysOf(
  query: Pick<UsageListQuery, 'from' | 'to'> & { readonly tag?: string },
  accountId: string | null,
  timeZone: string | null = null,
): UsageQuery {
  const to = query.to ?? dayIn(timeZone);
  const from = query.from ?? new Date(startOf(to, 'to') - (DAYS_DEFAULT - 1) * DAY_MS).toISOString().slice(0, 10);
  const days = (startOf(to, 'to') - startOf(from, 'from')) / DAY_MS + 1;
  if (days < 1 || days > DAYS_MAX) {
    throw GatewayError.ofField('from', `must not be after to, nor more than ${DAYS_MAX} days before it`);
  }
  return { accountId, from, to, timeZone, tag: query.tag ?? null };
}

/** The day that it is in a time zone; null: in UTC. */
export const dayIn = (timeZone: string | null): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: timeZone ?? 'UTC' }).format(Date.now());

/** Before everything. */
const FIRST_DAY = '1970-01-01';

/** That of a request is found on whatever day, unless days are given. @throws GatewayError as `daysOf`. */
export function recordsOf(
  query: UsageRecordsQuery,
  accountId: string | null,
  timeZone: string | null = null,
): RecordsQuery {
  const { session = null, end_user: endUser = null, request_id: requestId = null, from, to } = query;
  const days = daysOf(query, accountId, timeZone);
  const isOnAnyDay = requestId !== null && from === undefined && to === undefined;
  return { ...days, ...(isOnAnyDay && { from: FIRST_DAY }), session, endUser, requestId };
}

function startOf(day: string, param: string): number {
  const date = new Date(`${day}T00:00:00Z`);
  // The database has no year 0.
  const isKnown = date.getTime() >= 0 && date.toISOString().startsWith(day);
  if (isKnown) return date.getTime();
  throw GatewayError.ofField(param, 'must be a day that exists, 1970-01-01 or later');
}

/** @throws GatewayError `invalid_parameter` naming what may be listed. */
export function groupsOf(list: string): UsageGroup[];
export function groupsOf<Group extends string>(list: string, allowed: readonly Group[]): Group[];
export function groupsOf(list: string, allowed: readonly string[] = USAGE_GROUPS): string[] {
  const names = [...new Set(list.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  return names.map((name) => {
    const group = allowed.find((known) => known === name);
    if (group) return group;
    throw new GatewayError('invalid_parameter', `group_by must be any of ${allowed.join(', ')}, separated by commas.`, {
      param: 'group_by',
    });
  });
}

type Query = Readonly<Record<string, unknown>>;

/** A value that is none of those there may be. `rule`: what it must be. */
export const mustBe = (param: string, rule: string): GatewayError => GatewayError.ofField(param, `must be ${rule}`);

/** @throws GatewayError `invalid_parameter` for a value that stands there and is none of these words. */
export function oneOf<Word extends string>(query: Query, param: string, words: readonly Word[]): Word | undefined {
  const sent = query[param];
  if (sent === undefined) return undefined;
  const word = words.find((known) => known === sent);
  if (word === undefined) throw mustBe(param, `one of ${words.join(', ')}`);
  return word;
}

/** How many things one part of a list may have. */
export interface PageBounds {
  readonly limit: number;
  readonly limitMax: number;
}

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
export function readListQuery(query: Query, { limit, limitMax }: PageBounds) {
  const sent = query['limit'];
  const number = typeof sent === 'string' && /^\d{1,6}$/.test(sent) ? Number(sent) : Number.NaN;
  if (sent !== undefined && !(number >= 1 && number <= limitMax))
    throw mustBe('limit', `a whole number from 1 to ${limitMax}`);
  return {
    limit: sent === undefined ? limit : number,
    order: oneOf(query, 'order', ['asc', 'desc']) ?? 'desc',
    after: idIn(query, 'after'),
    before: idIn(query, 'before'),
  };
}

function idIn(query: Query, param: string): string | undefined {
  const sent = query[param];
  if (sent === undefined || isIdentifier(sent)) return sent;
  throw mustBe(param, 'an id of the list');
}
