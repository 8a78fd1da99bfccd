import { Type } from 'class-transformer';
import { IsInt, IsNotEmpty, IsOptional, IsString, Max, Min, MinLength } from 'class-validator';
import { Variable } from '../config/variable.js';

/** How operators and orchestrators look into a process. */
export class OpsConfig {
  @Variable({
    description:
      'Port of /healthz, /readyz and /metrics of every process, workers included. When unset, workers serve none of them and the API serves all three on PORT, /metrics only to the same machine or with ADMIN_TOKEN or OPS_VIEWER_TOKEN as Bearer.',
    example: '9464',
  })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(65_535)
  OPS_PORT?: number;

  @Variable({ description: 'Address that OPS_PORT listens on; 0.0.0.0 opens it to the network of the scraper.' })
  @IsString()
  @IsNotEmpty()
  OPS_HOST = '127.0.0.1';

  @Variable({
    description: 'Token for read-only access to the pages under /ops. When unset, only ADMIN_TOKEN opens them.',
    secret: true,
  })
  @IsOptional()
  @MinLength(12)
  OPS_VIEWER_TOKEN?: string;

  @Variable({
    description:
      'How long a process that shuts down reports "not ready" before it refuses requests, so that load balancers notice first.',
    unit: 'seconds, 0 to 60',
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(60)
  DRAIN_SECONDS = 0;
}
