import { Type } from 'class-transformer';
import { IsInt, IsNotEmpty, IsOptional, Max, MaxLength, Min } from 'class-validator';
import { Switch, Variable } from '#platform';

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
    description:
      'The most bytes that the files of an account may have together. What is made of them to search them (passages, terms, vectors) may have 16 times as much.',
    unit: 'MiB, 1 to 1048576',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_048_576)
  FILES_ACCOUNT_MB = 1_024;

  @Variable({
    description: 'How long an uploaded file is kept whose upload does not say (`expires_after`).',
    unit: 'days, 0 to 36500; 0 keeps them forever',
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(36_500)
  FILE_RETENTION_DAYS = 0;

  @Variable({
    description:
      'The model of an upstream (`embedding_models`) that makes vectors of passages and of questions, so that a search compares meanings besides words. Without it, or while no upstream offers it, words alone are compared. Another model makes all vectors again.',
    example: 'text-embedding-3-small',
  })
  @IsOptional()
  @IsNotEmpty()
  @MaxLength(128)
  FILE_EMBEDDING_MODEL?: string;

  @Variable({
    description:
      'Whether embeddings of passages and queries are free for the account: `true` the operator pays; `false` the account pays the price of the model.',
  })
  @Switch()
  FILE_EMBEDDINGS_FREE = false;
}
