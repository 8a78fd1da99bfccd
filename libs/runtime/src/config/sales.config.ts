import { IsNotEmpty, IsOptional } from 'class-validator';
import { type DatabaseConfig, Switch, Variable } from '#platform';

export class SalesConfig {
  @Variable({
    description:
      'YAML file of dated prices, added to the price book at every start; existing prices stay. See docs/operations/prices.md.',
    example: 'prices.yaml',
  })
  @IsOptional()
  @IsNotEmpty()
  PRICES_FILE?: string;

  @Variable({
    description:
      'Whether the output of the built-in sandbox is sold where a model has no upstream: true or false. When unset: true with embedded Postgres; with DATABASE_URL such requests are refused before money is held.',
    example: 'true',
    formerly: 'SANDBOX_SELLS',
  })
  @IsOptional()
  @Switch()
  SANDBOX_BILLING_ENABLED?: boolean;
}

/** Whether what the sandbox makes may be sold. */
export const sandboxSells = ({
  sales,
  database,
}: {
  readonly sales: SalesConfig;
  readonly database: DatabaseConfig;
}): boolean => sales.SANDBOX_BILLING_ENABLED ?? database.DATABASE_URL === undefined;
