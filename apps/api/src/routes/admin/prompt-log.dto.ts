import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { PROMPT_RETENTION_DAYS, REDACTIONS_MAX } from '#features';
import { ListQuery } from '../../list-query.js';

/** What is to be logged of an account, in all. */
export class PromptLogBody {
  @IsBoolean()
  enabled!: boolean;

  @IsInt()
  @Min(PROMPT_RETENTION_DAYS.least)
  @Max(PROMPT_RETENTION_DAYS.most)
  retention_days: number = PROMPT_RETENTION_DAYS.usual;

  /** What is taken out before anything is kept: names of what is known, or patterns. */
  @IsArray()
  @ArrayMaxSize(REDACTIONS_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  redactions: string[] = [];
}

/** Which logged requests. */
export class PromptEntriesQuery extends ListQuery {
  @IsOptional()
  @IsString()
  @MaxLength(256)
  session?: string;

  @IsOptional()
  @IsString()
  @MaxLength(100)
  request_id?: string;
}
