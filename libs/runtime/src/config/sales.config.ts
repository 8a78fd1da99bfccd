import { IsNotEmpty, IsOptional } from 'class-validator';
import { type DatabaseConfig, Switch, Variable } from '#platform';

/** What is sold, and for how much. */
export class SalesConfig {
  @Variable({
    description:
      'YAML file of dated prices, put into the price book at every start; what is there already stays. See docs/operations/prices.md.',
    example: 'prices.yaml',
  })
  @IsOptional()
  @IsNotEmpty()
  PRICES_FILE?: string;

  @Variable({
    description:
      'Whether models without an upstream are sold although the built-in sandbox makes them: true or false. When unset: only by a gateway with embedded Postgres; with DATABASE_URL such requests are refused before money is held.',
    example: 'true',
  })
  @IsOptional()
  @Switch()
  SANDBOX_SELLS?: boolean;
}

/** Whether what the sandbox makes may be sold. */
export const sandboxSells = ({
  sales,
  database,
}: {
  readonly sales: SalesConfig;
  readonly database: DatabaseConfig;
}): boolean => sales.SANDBOX_SELLS ?? database.DATABASE_URL === undefined;
