import { Variable } from '#platform';
import { Type } from 'class-transformer';
import { IsInt, IsNotEmpty, IsNumber, IsOptional, Max, Min } from 'class-validator';

/** Where text comes from. */
export class TextConfig {
  @Variable({
    description:
      'YAML file that lists the upstreams of text models; more can be added through the admin API. While there is none at all, the built-in sandbox writes all text.',
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
}
