import { Controller, Get, Inject, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { BALANCE_UNITS, formatMicros, type JsonObject } from '#contracts';
import { BalanceService, UsageService } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { CheckedQuery } from '../../checked-input.js';
import { AccountId, ApiKeyGuard } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { queryOf } from '../../http/input-schema.js';
import { envelopeSchema, operationsOf } from '../../http/operation.js';
import { Reply, Route, Routes } from '../../http/route.js';
import type { SerializedBody } from '../../http/serialized-body.js';
import { daysOf, groupsOf, recordsOf, UsageRecordsQuery, UsageSumsQuery } from '../../list-query.js';
import { viewOf } from '../../row-view.js';
import { csvOf, sendList } from '../../send-list.js';

const ROWS = envelopeSchema({ type: 'array', items: { type: 'object' } });

/** JSON in the envelope, or the same as a table. */
const jsonOrCsv = (description: string, schema: JsonObject = ROWS): JsonObject => ({
  description,
  content: {
    'application/json': { schema },
    'text/csv': { schema: { type: 'string' } },
  },
});

const OWED = { type: 'string', description: 'What the account owes now; the next top-up pays it first.' };
const CURRENCY = { enum: [...BALANCE_UNITS], description: 'That of the amounts, and of the balance.' };
const ZONE = { type: 'string', description: 'The time zone of the days.' };
const SUMS: JsonObject = {
  allOf: [
    ROWS,
    {
      type: 'object',
      required: ['owed', 'currency', 'time_zone'],
      properties: { owed: OWED, currency: CURRENCY, time_zone: ZONE },
    },
  ],
};

const USAGE_OPERATIONS = operationsOf('Account', {
  readUsage: {
    summary: 'Sums of requests, tokens and money by day, model and key, at most 10000 of them',
    parameters: queryOf(UsageSumsQuery),
    answer: jsonOrCsv('The sums.', SUMS),
    errors: ['invalid_parameter'],
  },
  listUsageRecords: {
    summary: 'Every request and task with the lines of its price, newest first',
    parameters: queryOf(UsageRecordsQuery),
    answer: jsonOrCsv('The records.'),
    errors: ['invalid_parameter'],
  },
});

/** What an account used, for the holders of its keys. */
@Controller('v1/usage')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'usage' })
export class UsageController {
  constructor(
    private readonly usage: UsageService,
    private readonly balances: BalanceService,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  /** Sums by day, model and key, in the time zone of the account; beside them what the account still owes of all it ever used. */
  @Get()
  @Route({ operation: USAGE_OPERATIONS.readUsage, cost: 'free' })
  async sums(
    @AccountId() accountId: string,
    @CheckedQuery(UsageSumsQuery) asked: UsageSumsQuery,
  ): Promise<SerializedBody | DataWith<readonly unknown[]>> {
    const groups = groupsOf(asked.group_by, ['day', 'model', 'key', 'tag']);
    const timeZone = await this.usage.timeZoneOf(accountId);
    const sums = await this.usage.sums(daysOf(asked, accountId, timeZone), groups);
    if (asked.format === 'csv') return csvOf(sums);
    const owedMicros = (await this.balances.ofAccount(accountId))?.owedMicros ?? 0n;
    const { BALANCE_UNIT: currency } = this.platform.config.server;
    const facts = { owed: formatMicros(owedMicros), currency, time_zone: timeZone ?? 'UTC' };
    return new DataWith(sums.map(viewOf), facts);
  }

  /** Each request with the lines of its price. */
  @Get('records')
  @Route({ operation: USAGE_OPERATIONS.listUsageRecords, cost: 'free' })
  async records(
    @AccountId() accountId: string,
    @CheckedQuery(UsageRecordsQuery) list: UsageRecordsQuery,
    @Reply() response: Response,
  ) {
    const asked = recordsOf(list, accountId, await this.usage.timeZoneOf(accountId));
    return sendList(response, list, (page) => this.usage.records(asked, page));
  }
}
