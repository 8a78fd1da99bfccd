import { once } from 'node:events';
import { eventually, type SilentHandshake, startSilentHandshake } from '#testing';
import { parseRedisAddress } from '../redis/redis-address.js';
import { connect, FAIL_FAST, WAIT_FOR_SERVER } from '../redis/redis-connection.js';
import { isConnectionError } from './connection-errors.js';
import { Database } from './database.js';

describe('A TLS server that stops responding in the handshake', () => {
  let silent: SilentHandshake;
  beforeAll(async () => {
    silent = await startSilentHandshake();
  });
  afterAll(() => silent.close());

  /** How it failed. */
  const failureOf = (work: () => Promise<unknown>): Promise<unknown> =>
    work().then(
      () => null,
      (error: unknown) => error,
    );

  // The server never ends a handshake: without a limit of ours these would wait for the end of the test.
  it('ends a statement instead of holding it up forever, and later ones too', async () => {
    const database = new Database(`postgresql://unknown@127.0.0.1:${silent.port}/nothing?sslmode=no-verify`);
    const ask = (): Promise<unknown> => database.query({ text: 'select 1' });
    expect(isConnectionError(await failureOf(ask))).toBe(true);
    expect(await database.unfitness()).toBe('the database does not answer');
    expect(isConnectionError(await failureOf(ask))).toBe(true);
    await database.close();
  });

  it.each([
    ['sends', FAIL_FAST],
    ['listens', WAIT_FOR_SERVER],
  ])('is given up by a connection to Redis that %s', async (_what, behaviour) => {
    const redis = connect(parseRedisAddress(`rediss://127.0.0.1:${silent.port}`), behaviour);
    expect(await failureOf(() => once(redis, 'close'))).toMatchObject({ message: 'connect ETIMEDOUT' });
    redis.disconnect();
  });

  it('receives the name of the server that a connection to Redis wants', async () => {
    const redis = connect(parseRedisAddress(`rediss://localhost:${silent.port}`), FAIL_FAST);
    redis.on('error', () => undefined);
    expect(await eventually(() => silent.received.includes('localhost'))).toBe(true);
    redis.disconnect();
  });
});
