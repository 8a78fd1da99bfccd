import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { answerUnread } from '#testing';
import express from 'express';
import { sendList } from './send-list.js';

/** Of a list that never ends. */
const PAGE = { items: Array.from({ length: 1_000 }, () => ({ text: 'x'.repeat(1_000) })), nextCursor: 'on' };

it('a list as CSV is read no further for a client that reads nothing, which is cut off', async () => {
  const sent = answerUnread((_request, response) =>
    sendList(response, { limit: 1, format: 'csv' }, () => Promise.resolve(PAGE), 300),
  );
  await expect(sent).resolves.toBeUndefined();
});

it('a list as CSV is read no further than its first page for a client that asks for its headers alone', async () => {
  let pages = 0;
  const read = () => Promise.resolve({ items: PAGE.items, nextCursor: (pages += 1) < 3 ? 'on' : null });
  const server = express()
    .get('/', (_request, response) => {
      void sendList(response, { limit: 1, format: 'csv' }, read).then(() => response.end());
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method: 'HEAD' });
  expect(pages).toBe(1);
  server.closeAllConnections();
  server.close();
});
