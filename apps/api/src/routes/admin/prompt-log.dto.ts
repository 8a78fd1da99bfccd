import { ArrayMaxSize, ArrayUnique, IsArray, IsBoolean, IsOptional, IsString } from 'class-validator';
import { PROMPT_RETENTION_DAYS, REDACTIONS_MAX } from '#features';
import { Described } from '../../http/input-schema.js';
import { Text, Whole } from '../../input-fields.js';
import { ListQuery } from '../../list-query.js';

/** What is to be logged of an account, in all. */
export class PromptLogBody {
  @IsBoolean() enabled!: boolean;
  @Whole(PROMPT_RETENTION_DAYS.least, PROMPT_RETENTION_DAYS.most) retention_days: number = PROMPT_RETENTION_DAYS.usual;

  @Described('What is taken out before anything is kept: names of what is known, or patterns.')
  @IsArray()
  @ArrayMaxSize(REDACTIONS_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  redactions: string[] = [];
}

/** Which logged requests. */
export class PromptEntriesQuery extends ListQuery {
  @IsOptional() @Text(256) session?: string;
  @IsOptional() @Text(100) request_id?: string;
}
