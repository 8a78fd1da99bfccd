import { atBest } from '#testing';
import { configureLog, logger, type LogLevel, withLogContext } from './logger.js';
import { NestLogger } from './nest-logger.js';

function capture(LOG_LEVEL: LogLevel, work: () => void): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  configureLog({ LOG_LEVEL }, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  work();
  return lines;
}

describe('logger', () => {
  it('writes level, time, name, event and fields as one JSON line, big numbers included', () => {
    const [line] = capture('info', () => logger('ledger').info('ledger.settled', { amountMicros: 250_000n }));
    expect(line).toMatchObject({ level: 'info', name: 'ledger', event: 'ledger.settled', amountMicros: 250_000 });
    expect(line?.['time']).toMatch(/^\d{4}-\d{2}-\d{2}T/);
  });

  it('binds request and task ids to every line of the work, awaited parts included', async () => {
    const lines: string[] = [];
    configureLog({ LOG_LEVEL: 'info' }, { write: (line) => void lines.push(line) });
    await withLogContext({ requestId: 'req_1' }, async () => {
      await Promise.resolve();
      withLogContext({ taskId: 'task_1' }, () => logger('test').info('inner.done'));
      logger('test').info('outer.done');
    });
    logger('test').info('outside.done');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ event: 'inner.done', requestId: 'req_1', taskId: 'task_1' }),
      expect.objectContaining({ event: 'outer.done', requestId: 'req_1' }),
      expect.not.objectContaining({ requestId: expect.anything() as unknown }),
    ]);
  });

  it('applies a later level to loggers that exist already', () => {
    const early = logger('early');
    expect(capture('error', () => early.info('nothing.happened'))).toEqual([]);
    expect(capture('debug', () => early.debug('something.happened'))).toHaveLength(1);
  });

  it('keeps the framework’s voice apart by name and reports its errors with their stack', () => {
    const lines = capture('debug', () => {
      const nest = new NestLogger();
      nest.log('Mapped {/v1/models, GET} route', 'RouterExplorer');
      nest.error('Broken', 'Error: Broken\n    at somewhere', 'ExceptionsHandler');
    });
    expect(lines).toEqual([
      expect.objectContaining({ level: 'debug', name: 'RouterExplorer', event: 'Mapped {/v1/models, GET} route' }),
      expect.objectContaining({
        level: 'error',
        name: 'ExceptionsHandler',
        stack: expect.stringContaining('at some') as string,
      }),
    ]);
  });
});

describe('the log never shows', () => {
  const SECRET = 'Zx81SinclairSpectrum';

  it.each([
    ['an authorization header', { headers: { authorization: `Bearer ${SECRET}` } }],
    ['an API key header', { headers: { 'x-api-key': SECRET, 'x-goog-api-key': SECRET } }],
    ['a key in a query', { url: `/v1beta/models?x=1`, query: { key: SECRET } }],
    ['the query of a signed link', { resultUrl: `https://media.example.com/a.mp4?X-Amz-Signature=${SECRET}` }],
    [
      'the password of a database address',
      { message: `connect postgresql://gateway:${SECRET}@db:5432/gateway failed` },
    ],
    [
      'the password of an address behind a sign',
      { message: `to -redis://gateway:${SECRET}@cache:6379 and _x://a:${SECRET}@b` },
    ],
    ['a webhook secret', { endpoint: { signingSecret: SECRET } }],
    ['a prompt', { order: { prompt: SECRET, negative_prompt: SECRET } }],
    ['a message of a conversation', { request: { messages: [{ role: 'user', content: SECRET }] } }],
    ['a request body', { body: { anything: SECRET } }],
    ['a key inside a text', { detail: `the key sk-${SECRET} was refused` }],
    [
      'the connection that a driver hangs on its error',
      { error: Object.assign(new Error('lost'), { client: { secretKey: SECRET } }) },
    ],
    ['bytes', { image: Buffer.from(SECRET) }],
    [
      'what an error repeats',
      { error: new Error(`GET https://x.example/?key=${SECRET}`, { cause: { password: SECRET } }) },
    ],
  ])('%s', (_case, fields) => {
    const [line] = capture('info', () => logger('test').info('thing.done', fields));
    expect(line).toMatchObject({ event: 'thing.done' });
    expect(JSON.stringify(line)).not.toContain(SECRET);
  });

  it('at a cost that grows no faster than what is written', async () => {
    const hostile = { message: 'a-'.repeat(30_000) };
    const tookMs = await atBest(1_000, () => capture('info', () => logger('test').info('thing.done', hostile)));
    expect(tookMs).toBeLessThan(1_000);
  });

  it('too little: plain facts stay', () => {
    const facts = { taskId: 'task_1', durationMs: 12, url: 'https://media.example.com/a.mp4', inputTokens: 7 };
    const [line] = capture('info', () => logger('test').info('thing.done', facts));
    expect(line).toMatchObject(facts);
  });
});
