import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerUnread } from '#testing';
import { sendLocalFile } from './local-media-store.js';

it('a file of the folder is let go of when its client reads nothing', async () => {
  const root = await mkdtemp(join(tmpdir(), 'local-file-'));
  await writeFile(join(root, 'long.mp4'), Buffer.alloc(64 * 1024 * 1024));
  const sent = answerUnread((request, response) =>
    sendLocalFile(request, response, { root, key: 'long.mp4', expiresAt: null, stallMs: 300 }),
  );
  await expect(sent).resolves.toBeUndefined();
  await rm(root, { recursive: true });
});
