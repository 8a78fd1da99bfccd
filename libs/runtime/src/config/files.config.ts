import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { Variable } from '#platform';

/** What accounts may keep of their own files. */
export class FilesConfig {
  @Variable({ description: 'The largest file that may be uploaded to be searched.', unit: 'MiB, 1 to 512' })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(512)
  FILE_MAX_MB = 64;

  @Variable({ description: 'The most files that an account may keep.', unit: 'files, 0 to 1000000; 0 refuses all' })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  FILES_PER_ACCOUNT = 1_000;

  @Variable({
    description: 'The most bytes that the files of an account may have together.',
    unit: 'MiB, 1 to 1048576',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_048_576)
  FILES_ACCOUNT_MB = 1_024;

  @Variable({
    description: 'How long an uploaded file is kept whose upload does not say (`expires_after`).',
    unit: 'days, 0 to 36500; 0 keeps them for ever',
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(36_500)
  FILE_RETENTION_DAYS = 0;
}
