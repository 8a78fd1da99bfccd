import { answerUnread } from '#testing';
import { sendList } from './send-list.js';

/** Of a list that never ends. */
const PAGE = { items: Array.from({ length: 1_000 }, () => ({ text: 'x'.repeat(1_000) })), nextCursor: 'on' };

it('a list as CSV is read no further for a client that reads nothing, which is cut off', async () => {
  const sent = answerUnread((_request, response) =>
    sendList(response, { limit: 1, format: 'csv' }, () => Promise.resolve(PAGE), 300),
  );
  await expect(sent).resolves.toBeUndefined();
});
