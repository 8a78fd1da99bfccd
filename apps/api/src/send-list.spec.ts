import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import { sendList } from './send-list.js';

/** Of a list that never ends. */
const PAGE = { items: Array.from({ length: 1_000 }, () => ({ text: 'x'.repeat(1_000) })), nextCursor: 'on' };

it('a list as CSV is read no further for a client that reads nothing, which is cut off', async () => {
  let sent: Promise<unknown> | undefined;
  const server = express()
    .get('/', (_request, response) => {
      sent = sendList(response, { limit: 1, format: 'csv' }, () => Promise.resolve(PAGE), 300);
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(server, 'request');
  await expect(sent).resolves.toBeUndefined();
  client.destroy();
  server.closeAllConnections();
  server.close();
});
