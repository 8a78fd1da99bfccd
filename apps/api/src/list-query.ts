import { GatewayError } from '#contracts';
import { USAGE_GROUPS, type UsageGroup, type UsageQuery } from '#features';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';

/** Which part of a list, and in which form. */
export class ListQuery {
  /** Rows of one part; CSV holds all of them. */
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_000)
  limit = 50;

  /** The `next_cursor` of the part before. */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  cursor?: string;

  @IsIn(['json', 'csv'])
  format: 'json' | 'csv' = 'json';
}

const DAY = { message: '$property must be a day such as 2026-11-20' };
const DAY_FORM = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

/** A list over days of UTC, both ends included; the last 30 days unless said otherwise, at most 366. */
export class UsageListQuery extends ListQuery {
  @IsOptional()
  @Matches(DAY_FORM, DAY)
  from?: string;

  @IsOptional()
  @Matches(DAY_FORM, DAY)
  to?: string;
}

/** Sums over days, kept apart by what `group_by` lists. */
export class UsageSumsQuery extends UsageListQuery {
  /** Some of day, model, key (and account, for operators), separated by commas. */
  @IsString()
  group_by = 'day,model,key';
}

/** @throws GatewayError `invalid_parameter`: no such day, or the days are in the wrong order or too many. */
export function daysOf(query: UsageListQuery, accountId: string | null): UsageQuery {
  const to = query.to ?? new Date().toISOString().slice(0, 10);
  const from = query.from ?? new Date(startOf(to, 'to') - (DAYS_DEFAULT - 1) * DAY_MS).toISOString().slice(0, 10);
  const days = (startOf(to, 'to') - startOf(from, 'from')) / DAY_MS + 1;
  if (days < 1 || days > DAYS_MAX) {
    throw new GatewayError('invalid_parameter', `from must not lie behind to, nor more than ${DAYS_MAX} days before.`, {
      param: 'from',
    });
  }
  return { accountId, from, to };
}

function startOf(day: string, param: string): number {
  const date = new Date(`${day}T00:00:00Z`);
  // The database has no year 0.
  const isKnown = date.getTime() >= 0 && date.toISOString().startsWith(day);
  if (isKnown) return date.getTime();
  throw new GatewayError('invalid_parameter', `${param} must be a day that exists, 1970-01-01 or later.`, { param });
}

/** @throws GatewayError `invalid_parameter` naming what may be listed. */
export function groupsOf(list: string): UsageGroup[];
export function groupsOf<Group extends string>(list: string, allowed: readonly Group[]): Group[];
export function groupsOf(list: string, allowed: readonly string[] = USAGE_GROUPS): string[] {
  const names = [...new Set(list.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  return names.map((name) => {
    const group = allowed.find((known) => known === name);
    if (group) return group;
    throw new GatewayError('invalid_parameter', `group_by lists some of: ${allowed.join(', ')}.`, {
      param: 'group_by',
    });
  });
}
