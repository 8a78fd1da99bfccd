import { Type } from 'class-transformer';
import { IsIn, IsNumber, IsOptional, Max, Min } from 'class-validator';
import { Variable } from '../config/variable.js';
import { CRASH_POINTS, type CrashPoint } from './crash-points.js';

/** Crashes ordered by the crash tests. Never set in production. */
export class CrashConfig {
  @Variable({ description: 'Place at which this process kills itself; for crash tests only.' })
  @IsOptional()
  @IsIn(CRASH_POINTS)
  CRASH_AT?: CrashPoint;

  @Variable({ description: 'How likely each passage of CRASH_AT is to crash.', unit: 'chance, 0 to 1' })
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  @Max(1)
  CRASH_CHANCE = 1;
}
