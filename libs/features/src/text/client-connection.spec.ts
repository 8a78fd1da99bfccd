import { GatewayError, shuttingDown } from '#contracts';
import { readProcessConfig } from '#runtime';
import { ClientConnection, DisconnectDrainer, RunningTexts } from './client-connection.js';

const LIMITS = {
  readMs: 60_000,
  readBytes: 1_000,
  requests: 4,
  requestsPerAccount: 2,
  bodyBytes: 1_000,
  bodyBytesPerAccount: 500,
  stallMs: 1_000,
};

describe('The slots for reading on', () => {
  let reading: DisconnectDrainer;
  let stopped: string[];
  beforeEach(() => {
    reading = new DisconnectDrainer(LIMITS);
    stopped = [];
  });

  const leave = (accountId: string, bodyBytes = 0): (() => void) =>
    reading.begin({ accountId, bodyBytes }, () => stopped.push(accountId));

  it('are limited per account and in total, and free again when the work is over', () => {
    const over = leave('one');
    leave('one');
    expect(stopped).toEqual([]);
    leave('one');
    expect(stopped).toEqual(['one']);
    leave('two');
    leave('three');
    leave('four');
    expect(stopped).toEqual(['one', 'four']);
    over();
    over();
    leave('one');
    expect(stopped).toEqual(['one', 'four']);
  });

  it('bound the memory of the bodies, except for a single one', () => {
    const over = leave('one', 800);
    expect(stopped).toEqual([]);
    leave('one', 1);
    leave('two', 300);
    expect(stopped).toEqual(['one', 'two']);
    over();
    leave('two', 300);
    leave('two', 300);
    expect(stopped).toEqual(['one', 'two', 'two']);
  });

  it('are limited in time', async () => {
    reading = new DisconnectDrainer({ ...LIMITS, readMs: 20 });
    const stop = new Promise<string>((resolve) => {
      reading.begin({ accountId: 'one', bodyBytes: 0 }, () => resolve('stopped'));
    });
    expect(await stop).toBe('stopped');
  });

  it('are released when the process stops: running work is stopped, and nothing begins', async () => {
    const late = reading.begin({ accountId: 'two', bodyBytes: 0 }, () => {
      stopped.push('two');
      setImmediate(() => late());
    });
    await reading.close();
    expect(stopped).toEqual(['two']);
    leave('three')();
    expect(stopped).toEqual(['two', 'three']);
  });
});

describe('The text requests of an account that run at once', () => {
  it('have a most, which others do not share, and each that is over makes room for one', () => {
    const running = new RunningTexts({ config: readProcessConfig({ TEXTS_AT_ONCE_PER_ACCOUNT: '2' }) });
    const [first] = [running.begin('acct_a'), running.begin('acct_a')];
    expect(() => running.begin('acct_a')).toThrow('The account has 2 text requests that are being answered');
    running.begin('acct_b');
    running.over(first);
    running.over(first);
    running.begin('acct_a');
    expect(() => running.begin('acct_a')).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
  });
});

describe('What a caller did not see of the work', () => {
  const ended = new GatewayError('invalid_api_key', 'revoked');
  const stop = (client: ClientConnection): void => client.end(shuttingDown());
  const leave = (client: ClientConnection): void => client.leave();
  const stream = (client: ClientConnection): void => client.refuse(ended, true);
  const whole = (client: ClientConnection): void => client.refuse(ended, false);

  it.each<[string, boolean, ((client: ClientConnection) => void)[]]>([
    ['left', true, [leave]],
    ['left before the process ended', true, [leave, stop]],
    ['were told that the process ends', false, [stop, leave]],
    ['streamed with a key that ended', true, [stream]],
    ['streamed with a key that ended before the process', true, [stream, stop]],
    ['wait for a whole reply with a key that ended', false, [whole]],
    ['wait for one that the end of the process stops', false, [whole, stop]],
    ['leave one', true, [whole, leave]],
  ])('is owed where they %s: %s', (_how, owes, steps) => {
    const client = new ClientConnection('acct_a');
    for (const step of steps) step(client);
    expect(client.owesUnseen).toBe(owes);
  });
});
