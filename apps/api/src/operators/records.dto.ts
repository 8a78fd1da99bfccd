import { applyDecorators } from '@nestjs/common';
import { IsBoolean, IsOptional } from 'class-validator';
import { Described } from '../http/input-schema.js';
import { IsShownText, IsText, IsTrueOrFalse } from '../input-fields.js';
import { EntriesQuery, ListQuery, UsageRecordsQuery, UsageSumsQuery } from '../list-query.js';

const OfAccount = (): PropertyDecorator =>
  applyDecorators(Described('Only of this account.'), IsOptional(), IsText(80));

export class AccountsQuery extends ListQuery {
  @Described('A part of the name, or the whole id.') @IsOptional() @IsShownText(200) name?: string;
}

export class LedgerQuery extends EntriesQuery {
  @OfAccount() account_id?: string;
}

export class AuditQuery extends ListQuery {
  @Described('The id of what was changed: an account, a key, a price or an upstream.')
  @IsOptional()
  @IsText(80)
  subject_id?: string;
}

export class AccountUsageQuery extends UsageRecordsQuery {
  @OfAccount() account_id?: string;
}

export class AccountUsageSumsQuery extends UsageSumsQuery {
  @Described('Any of day, model, key and account, or of day, account and tag, separated by commas.')
  declare group_by: string;

  @OfAccount() account_id?: string;
}

export class ReconcileQuery {
  @Described('true: reads every entry of the ledger again, also those proved before.')
  @IsTrueOrFalse()
  full: 'true' | 'false' = 'false';
}

export class ReconcileBody {
  @IsOptional() @IsBoolean() full?: boolean;
}
