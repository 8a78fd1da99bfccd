import { IsIn, IsInt, IsISO8601, IsOptional, IsString, Matches, Max, MaxLength, Min, MinLength } from 'class-validator';

const UNITS = [
  'second',
  'image',
  'request',
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'output_token',
  'reasoning_token',
  'image_token',
] as const;

/** A price to come into force. */
export class NewPriceBody {
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  model!: string;

  @IsIn(UNITS)
  unit!: (typeof UNITS)[number];

  @Matches(/^[\w+.-]{1,50}$/, { message: 'variant must be 1 to 50 letters, digits or any of _ + . -' })
  variant = 'default';

  /** Decimal text, not below 0, for each `per_quantity` units. */
  @IsString()
  amount!: string;

  @IsInt()
  @Min(1)
  @Max(1_000_000_000)
  per_quantity = 1;

  /** When it begins; absent: now. */
  @IsOptional()
  @IsISO8601({ strict: true })
  effective_from?: string;
}

/** Which prices: those in force now or at a moment, or all there were and will be. */
export class PriceQuery {
  @IsOptional()
  @IsString()
  model?: string;

  @IsOptional()
  @IsISO8601({ strict: true })
  at?: string;

  @IsOptional()
  @IsIn(['true', 'false'])
  history?: 'true' | 'false';
}

/** In which form the book is exported. */
export class ExportQuery {
  @IsIn(['json', 'yaml'])
  format: 'json' | 'yaml' = 'json';
}

/** Whether an import only says what it would do. */
export class ImportQuery {
  @IsIn(['true', 'false'])
  dry_run: 'true' | 'false' = 'false';
}
