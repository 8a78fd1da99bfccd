import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { Variable } from '#platform';

const DAYS = 'days, 0 to 36500; 0 keeps them forever';
const MAX_DAYS = 36_500;

/** How long what grows with use is kept. Ledger and sums by day stay forever. */
export class RetentionConfig {
  @Variable({
    description:
      'How long usage records explain each request; whole months go when their last day is older. Sums by day stay.',
    unit: DAYS,
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(MAX_DAYS)
  USAGE_RETENTION_DAYS = 400;

  @Variable({
    description:
      'How long audit records are kept, by whole months, and with them reconciliation reports and resolved vendor orphans.',
    unit: DAYS,
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(MAX_DAYS)
  AUDIT_RETENTION_DAYS = 400;

  @Variable({
    description: 'How long webhook deliveries and their attempts are kept after their end. Pending ones always stay.',
    unit: DAYS,
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(MAX_DAYS)
  WEBHOOK_LOG_RETENTION_DAYS = 30;

  @Variable({
    description:
      'How long an ended task keeps what it was asked for (prompt, inline files) and the vendor links. Its state, files and price stay.',
    unit: DAYS,
  })
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(MAX_DAYS)
  TASK_CONTENT_RETENTION_DAYS = 90;
}
