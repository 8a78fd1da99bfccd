import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { Variable } from '#platform';

/** How long the sandbox pretends to work. A `[sandbox:delay=…]` in the prompt wins. */
export class SandboxConfig {
  @Variable({ description: 'How long the sandbox pretends to work on a video.', unit: 'milliseconds, 0 to 3600000' })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  SANDBOX_VIDEO_MS = 1_500;

  @Variable({ description: 'How long the sandbox pretends to work on an image.', unit: 'milliseconds, 0 to 3600000' })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  SANDBOX_IMAGE_MS = 300;
}
