import { IsOptional, Matches } from 'class-validator';
import { Variable } from '../config/variable.js';

/** Which Postgres holds the tasks and the money, and how much of it one process uses. */
export class DatabaseConfig {
  @Variable({
    description:
      'Postgres to use, 15 or newer; the tests use 18. When unset, an embedded Postgres is started with its data in DATA_DIR.',
    secret: true,
    example: 'postgresql://user:password@host:5432/gateway',
  })
  @IsOptional()
  @Matches(/^postgres(ql)?:\/\//, { message: '$property must begin with postgresql:// or postgres://' })
  DATABASE_URL?: string;

  @Variable({
    description: 'Connections one process opens at most; replicas times this value must stay below max_connections.',
    unit: 'connections',
    between: [2, 100],
  })
  DATABASE_POOL_SIZE = 10;

  @Variable({ description: 'Longest wait for a free or new connection.', unit: 'seconds', between: [1, 120] })
  DATABASE_CONNECT_TIMEOUT_SECONDS = 2;

  @Variable({
    description:
      'Longest wait for the result of a statement that a request or a worker needs; after that, the connection is discarded and the request gets 503.',
    unit: 'milliseconds',
    between: [100, 60_000],
  })
  DATABASE_ANSWER_TIMEOUT_MS = 2_000;

  @Variable({
    description: 'Longest time that a statement of the maintenance worker or of a report may run.',
    unit: 'seconds',
    between: [1, 600],
  })
  DATABASE_STATEMENT_TIMEOUT_SECONDS = 30;

  @Variable({
    description: 'How long a starting process waits for Postgres, with one log line a second, before it exits with 1.',
    unit: 'seconds',
    between: [0, 3_600],
  })
  START_WAIT_SECONDS = 60;
}
