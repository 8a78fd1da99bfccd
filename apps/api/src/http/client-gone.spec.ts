import { once } from 'node:events';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientGone } from './client-gone.js';

describe('A client that is gone', () => {
  const server = createServer();
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is known to be gone also where it left before anybody asked', async () => {
    const arrived = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const { port } = server.address() as AddressInfo;
    const sent = httpRequest({ port, host: '127.0.0.1' });
    sent.on('error', () => undefined).end();
    const [, response] = await arrived;
    const closed = once(response, 'close');
    sent.destroy();
    await closed;
    expect(clientGone(response).aborted).toBe(true);
  });
});
