import { Type } from 'class-transformer';
import { IsIn, IsInt, IsUrl } from 'class-validator';

export const ROLES = ['api', 'image-worker', 'maintenance-worker'] as const;
export type Role = (typeof ROLES)[number];

export const REPEAT_STARTS = ['idempotent', 'lookup', 'unknown'] as const;
export type RepeatStart = (typeof REPEAT_STARTS)[number];

/** What a process of the chaos run is told besides the configuration of the gateway. */
export class ChaosConfig {
  @IsIn(ROLES)
  CHAOS_ROLE!: Role;

  @IsUrl({ require_tld: false })
  CHAOS_VENDOR_URL!: string;

  @IsIn(REPEAT_STARTS)
  CHAOS_REPEAT_START!: RepeatStart;

  /** How far the clock of the process is off, in milliseconds. */
  @Type(() => Number)
  @IsInt()
  CHAOS_CLOCK_SKEW_MS = 0;
}
