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

it('a list as CSV lets others run while many long rows are written', async () => {
  const items = Array.from({ length: 1_000 }, () => ({ said: '"so" '.repeat(1_000) }));
  let turns = 0;
  let turnsBeforeWrite = -1;
  const count = (): void => {
    turns += 1;
    if (turnsBeforeWrite < 0) setImmediate(count);
  };
  const server = express()
    .get('/', (_request, response) => {
      const write = response.write.bind(response);
      response.write = (text: string) => {
        turnsBeforeWrite = turns;
        return write(text);
      };
      count();
      const read = () => Promise.resolve({ items, nextCursor: null });
      void sendList(response, { limit: 1, format: 'csv' }, read).then(() => response.end());
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const text = await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  expect(text.split('\n').filter(Boolean)).toHaveLength(1_001);
  expect(turnsBeforeWrite).toBeGreaterThan(10);
  server.closeAllConnections();
  server.close();
});
