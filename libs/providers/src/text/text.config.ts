import { Variable } from '#platform';
import { Type } from 'class-transformer';
import { IsInt, IsNotEmpty, IsNumber, IsOptional, Max, Min } from 'class-validator';

/** Where text comes from. */
export class TextConfig {
  @Variable({
    description:
      'YAML file that lists the upstreams of text models (`upstreams`) and of video and image models (`media_upstreams`); more can be added through the admin API. While there is none at all of a kind, the built-in sandbox stands in for it.',
    example: 'upstreams.yaml',
  })
  @IsOptional()
  @IsNotEmpty()
  UPSTREAMS_FILE?: string;

  @Variable({
    description: 'Pause of the sandbox between two words of a streamed text.',
    unit: 'milliseconds, 0 to 10000',
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(10_000)
  SANDBOX_WORD_MS = 10;

  @Variable({
    description: 'How long a request looks for a text upstream that works, going round them again after short pauses.',
    unit: 'seconds, 0 to 300; 0 asks each upstream once',
  })
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  @Max(300)
  TEXT_RETRY_SECONDS = 10;

  @Variable({
    description:
      'How long an upstream is read on for its usage after the caller has left. Without the usage, what cannot be known is charged up to the hold.',
    unit: 'seconds, 0 to 300; 0 ends it at once',
  })
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  @Max(300)
  TEXT_LEFT_READ_SECONDS = 15;

  @Variable({
    description: 'The most that is read of a streamed reply after the caller has left.',
    unit: 'MiB, 1 to 64',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(64)
  TEXT_LEFT_READ_MB = 8;

  @Variable({
    description:
      'How many upstreams one process reads on at a time after their callers have left. An account has an eighth of them.',
    unit: 'requests, 0 to 10000',
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(10_000)
  TEXT_LEFT_READS = 256;

  @Variable({
    description: 'How long a caller may read nothing of an answer that is waiting for them; then they count as gone.',
    unit: 'seconds, 1 to 600',
  })
  @Type(() => Number)
  @IsNumber()
  @Min(1)
  @Max(600)
  TEXT_WRITE_STALL_SECONDS = 30;
}
