import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configureLog } from '#platform';
import { eventually } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';
import { spawnApp } from '../harness/spawned-process.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a canary in a coal mine' };

type Line = Record<string, unknown>;

describe('The log of a gateway at level info', () => {
  let gateway: TestGateway;
  let lines: Line[];
  let written: string;
  let atStart: readonly Line[];
  beforeAll(async () => {
    listen();
    gateway = await startTestGateway();
    atStart = lines;
  });
  beforeEach(listen);
  afterAll(() => gateway.stop());

  function listen(): void {
    lines = [];
    written = '';
    configureLog(
      { LOG_LEVEL: 'info' },
      {
        write: (line) => {
          written += line;
          lines.push(JSON.parse(line) as Line);
        },
      },
      'gateway',
    );
  }

  const linesOf = (field: string, value: unknown): Line[] => lines.filter((line) => line[field] === value);
  const settled = (event: string): Promise<boolean> => eventually(() => linesOf('event', event).length > 0);

  it('warns at the start that the output of the sandbox is sold', () => {
    const reason = 'what the built-in sandbox makes is sold to customers (SANDBOX_BILLING_ENABLED is true)';
    expect(atStart.filter(({ level }) => level === 'warn')).toMatchObject([{ event: 'sales.degraded', reason }]);
  });

  it('logs the life of a task, step by step, with account, key, model, upstream and money', async () => {
    const taskId = await gateway.submit('/v1/images/generations', IMAGE);
    await gateway.waitForTask(taskId);
    await settled('task.completed');
    const story = linesOf('taskId', taskId).filter(({ event }) => String(event).startsWith('task.'));
    expect(story.map(({ event }) => event)).toEqual([
      'task.submitted',
      'task.claimed',
      'task.started',
      'task.claimed',
      'task.stored',
      'task.completed',
    ]);
    for (const line of story)
      expect(line).toMatchObject({
        level: 'info',
        role: 'gateway',
        version: expect.stringMatching(/^\d/) as string,
        pid: process.pid,
        accountId: gateway.accountId,
        keyId: expect.stringMatching(/^key_/) as string,
        requestId: expect.stringMatching(/^req_/) as string,
        model: 'eta-image-2.0',
      });
    expect(story.at(-1)).toMatchObject({ upstream: 'sandbox', amount: '0.035000', ms: expect.any(Number) as number });
    expect(written).not.toContain('canary');
  });

  it('says why a task failed, and that it cost nothing', async () => {
    const taskId = await gateway.submit('/v1/images/generations', {
      ...IMAGE,
      prompt: '[sandbox:fail=content_policy]',
    });
    await gateway.waitForTask(taskId);
    await settled('task.failed');
    expect(linesOf('event', 'task.failed')).toEqual([
      expect.objectContaining({ taskId, code: 'content_policy', amount: '0.000000', upstream: 'sandbox' }),
    ]);
  });

  it('has one line for each request: caller, route, outcome, duration and cost', async () => {
    const requests: [method: string, path: string, body: object | undefined, expected: Line][] = [
      [
        'POST',
        '/v1/images/generations',
        IMAGE,
        { status: 200, model: 'eta-image-2.0', hold: '0.035000', taskId: expect.stringMatching(/^task_/) as string },
      ],
      [
        'POST',
        '/v1/responses',
        { model: 'vendor-5', input: 'canary' },
        {
          status: 200,
          model: 'vendor-5',
          upstream: 'sandbox',
          amount: expect.stringMatching(/^0\.\d{6}$/) as string,
          accountId: expect.stringMatching(/^acct_/) as string,
        },
      ],
      [
        'POST',
        '/v1/responses',
        { model: 'vendor-5', input: 'canary', stream: true },
        {
          status: 200,
          upstream: 'sandbox',
          amount: expect.stringMatching(/^0\.\d{6}$/) as string,
          accountId: expect.stringMatching(/^acct_/) as string,
        },
      ],
      [
        'POST',
        '/v1/responses',
        { model: 'canary', input: 'canary' },
        { status: 404, code: 'model_not_found', model: 'other' },
      ],
      ['GET', '/v1/tasks/canary', undefined, { status: 404, code: 'task_not_found' }],
      ['GET', '/v1/canary?canary=1', undefined, { status: 404, route: 'none' }],
    ];
    for (const [method, path, body, expected] of requests) {
      const answer = await fetch(gateway.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      await answer.text();
      const requestId = answer.headers.get('x-request-id');
      const own = (): Line[] =>
        linesOf('requestId', requestId).filter(({ event }) => !String(event).startsWith('task.'));
      await eventually(() => own().length > 0);
      expect(own()).toEqual([
        expect.objectContaining({
          event: 'request.completed',
          role: 'gateway',
          method,
          ms: expect.any(Number) as number,
          ...expected,
        }),
      ]);
      expect(Number.isInteger(own()[0]?.['ms'])).toBe(true);
    }
    expect(written).not.toContain('canary');
    await fetch(`${gateway.baseUrl}/readyz`);
    expect(linesOf('route', '/readyz')).toEqual([]);
  });
});

describe('The start of an API process', () => {
  it('warns of the models of its upstreams that have no price, before anybody asks for one', async () => {
    const gateway = await startTestGateway({ workers: false });
    const file = join(gateway.platform.config.server.DATA_DIR, 'unpriced.yaml');
    const upstreams = [
      { id: 'u', protocol: 'chat', base_url: 'https://vendor.example.com/v1', models: { 'vendor-99': 'x' } },
    ];
    const media = [{ id: 'm', protocol: 'vidu', key: 'k', models: 'all', costs: { unit: 'USD', 'zeta-q3': 900 } }];
    await writeFile(file, JSON.stringify({ upstreams, media_upstreams: media }));
    const process = await spawnApp('api', {
      DATABASE_URL: gateway.platform.config.database.DATABASE_URL ?? '',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: gateway.platform.config.server.DATA_DIR,
      UPSTREAMS_FILE: file,
      PORT: '0',
    });
    try {
      await process.waitFor(/process\.started/);
      const lines = process
        .output()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      expect(lines).toContainEqual(
        expect.objectContaining({ event: 'sales.degraded', reason: expect.stringContaining('vendor-99') as string }),
      );
    } finally {
      await process.end('SIGKILL');
      await gateway.stop();
    }
  });
});

describe('The output of a role', () => {
  it('is JSON from the first line to the last, failed starts included, and names role, version and process', async () => {
    const gateway = await startTestGateway({ workers: false });
    const environment = {
      DATABASE_URL: gateway.platform.config.database.DATABASE_URL ?? '',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: gateway.platform.config.server.DATA_DIR,
      PORT: '0',
    };
    try {
      for (const role of ['api', 'image-worker', 'video-worker', 'maintenance-worker']) {
        const process = await spawnApp(role, environment);
        await process.waitFor(/process\.started/);
        expect(await process.end('SIGTERM')).toBe(0);
        const lines = process
          .output()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Line);
        for (const line of lines)
          expect(line).toMatchObject({ role, pid: process.child.pid, version: expect.any(String) as string });
        expect(lines.map(({ event }) => event)).toEqual(
          expect.arrayContaining(['process.started', 'process.stopping', 'process.stopped']),
        );
        const failing = await spawnApp(role, { ...environment, PORT: 'x', LOG_LEVEL: 'loud' });
        expect(await failing.exited()).toBe(1);
        expect(JSON.parse(failing.output())).toMatchObject({
          level: 'fatal',
          event: 'process.start_failed',
          role,
          problems: [expect.stringContaining('PORT must be'), expect.stringContaining('LOG_LEVEL must be')] as string[],
        });
      }
    } finally {
      await gateway.stop();
    }
  });
});
