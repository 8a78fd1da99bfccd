import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { createApi } from '../create-api.js';
import { serve } from '../serve.js';

describe('Hostile clients', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  /** Writes bytes to the port as they are and answers everything that came back until the server closed. */
  async function raw(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(gateway.baseUrl).port), '127.0.0.1');
    socket.write(bytes);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    setTimeout(() => socket.end(), 1_000).unref();
    await once(socket, 'close');
    return answer;
  }

  const HEAD = `POST /v1/tasks/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TEST_KEY}\r\nContent-Type: application/json\r\n`;

  it.each([
    [
      'a length and chunks',
      `${HEAD}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n`,
    ],
    ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['chunks under a disguise', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a bare line feed in a header', `POST /v1/tasks/batch HTTP/1.1\nHost: x\nX: y\rZ: 1\r\n\r\n`],
    ['headers without an end', `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`],
  ])('get one error, and no smuggled request is read: %s', async (_case, bytes) => {
    const answers = (await raw(bytes)).match(/^HTTP\/1\.1 \d{3}/gm) ?? [];
    expect(answers).toHaveLength(1);
    expect(answers[0]).toMatch(/4\d\d$/);
  });

  it('cannot hold connections by sending headers or bodies slowly', async () => {
    const app = await createApi(gateway.platform);
    const { PORT } = gateway.platform.config.server;
    gateway.platform.config.server.PORT = 0;
    const running = await serve(app, gateway.platform);
    gateway.platform.config.server.PORT = PORT;
    const server: Server = app.getHttpServer();
    expect(server.headersTimeout).toBeLessThanOrEqual(15_000);
    expect(server.requestTimeout).toBeLessThanOrEqual(120_000);
    await running.stop(0);
  });

  it('get 413 before their body is read when it is too large for a path without images', async () => {
    const task = (bytes: number) => JSON.stringify({ task_ids: ['x'.repeat(bytes)] });
    expect((await gateway.send('POST', '/v1/tasks/batch', task(2 * 1024 * 1024))).body).toMatchObject({
      code: 413,
      error: { code: 'request_too_large' },
    });
    expect((await gateway.send('POST', '/v1/tasks/batch', task(1_000))).status).not.toBe(413);
    const image = { model: 'eta-image-2.0', prompt: 'x'.repeat(2 * 1024 * 1024) };
    expect((await gateway.send('POST', '/v1/images/generations', image)).status).toBe(400);
  });
});
