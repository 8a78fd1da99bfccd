import { IsOptional, Matches } from 'class-validator';
import { Variable } from '../config/variable.js';

/** Where the notifiers of the workers live. */
export class QueueConfig {
  @Variable({
    description:
      'Redis or Valkey for the queues: redis:// or rediss://, redis-cluster:// (or ?cluster=true), or redis-sentinel://host,host/name. When unset, the queues are in Postgres.',
    secret: true,
    example: 'redis://localhost:6379',
  })
  @IsOptional()
  @Matches(/^(rediss?|rediss?-cluster|rediss?-sentinel):\/\/./, {
    message:
      '$property must begin with redis://, rediss://, redis-cluster://, rediss-cluster://, redis-sentinel:// or rediss-sentinel://',
  })
  REDIS_URL?: string;

  @Variable({
    description: 'Beginning of all Redis keys; the braces keep the keys of a queue on one node of a Redis Cluster.',
  })
  @Matches(/^[\w:-]*\{[\w:-]+\}[\w:-]*$/, {
    message: '$property must hold one name in braces, for example {gateway}, of letters, digits and _ : -',
  })
  QUEUE_PREFIX = '{gateway}';
}
