import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendLocalFile } from './local-file-answer.js';

it('a file of the folder is let go of when its client reads nothing', async () => {
  const root = await mkdtemp(join(tmpdir(), 'local-file-'));
  await writeFile(join(root, 'long.mp4'), Buffer.alloc(64 * 1024 * 1024));
  let sent: Promise<void> | undefined;
  const server = createServer((request, response) => {
    sent = sendLocalFile(request, response, { root, key: 'long.mp4', expiresAt: null, stallMs: 300 });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(server, 'request');
  await expect(sent).resolves.toBeUndefined();
  client.destroy();
  server.closeAllConnections();
  server.close();
  await rm(root, { recursive: true });
});
