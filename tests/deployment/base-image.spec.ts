import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OLD = `sha256:${'a'.repeat(64)}`;
const NEW = `sha256:${'b'.repeat(64)}`;

describe('The base of the image', () => {
  let registry: Server;
  let host: string;
  let folder: string;
  let digest: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'base-image-'));
    registry = createServer((request, response) => {
      const { url = '', headers } = request;
      if (url.startsWith('/token?')) {
        const wanted = new URL(url, 'http://registry').searchParams.get('scope');
        return response.end(JSON.stringify({ token: `for ${wanted}` }));
      }
      if (headers.authorization !== 'Bearer for repository:library/node:pull') {
        const realm = `realm="http://${host}/token",service="registry",scope="repository:library/node:pull"`;
        return response.writeHead(401, { 'www-authenticate': `Bearer ${realm}` }).end();
      }
      const known = url === '/v2/library/node/manifests/24-slim' && headers.accept?.includes('image.index');
      return response.writeHead(known ? 200 : 404, known ? { 'docker-content-digest': digest } : {}).end();
    });
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    registry.close();
    await rm(folder, { recursive: true });
  });

  const dockerfile = (image: string): Promise<string> => {
    const file = join(folder, 'Dockerfile');
    return writeFile(file, `# Base\nARG NODE_IMAGE=${image}\nFROM \${NODE_IMAGE}\n`).then(() => file);
  };
  const pin = (file: string, ...options: string[]) =>
    run(process.execPath, ['scripts/pin-base-image.mjs', '--dockerfile', file, ...options]);

  it('is pinned to the digest of the registry, and updated when the tag moves', async () => {
    digest = OLD;
    const file = await dockerfile(`${host}/library/node:24-slim`);
    await expect(pin(file, '--check')).rejects.toThrow(/pinned to nothing/);
    await pin(file);
    expect(await readFile(file, 'utf8')).toBe(
      `# Base\nARG NODE_IMAGE=${host}/library/node:24-slim@${OLD}\nFROM \${NODE_IMAGE}\n`,
    );
    expect((await pin(file, '--check')).stdout).toContain('is pinned to');
    digest = NEW;
    await expect(pin(file, '--check')).rejects.toThrow(new RegExp(`is ${NEW} today, and pinned to ${OLD}`));
    await pin(file);
    expect(await readFile(file, 'utf8')).toContain(`24-slim@${NEW}\n`);
  });

  it('is unchanged when the registry does not know the tag', async () => {
    const file = await dockerfile(`${host}/library/node:99-slim`);
    await expect(pin(file)).rejects.toThrow(/answered 404/);
    expect(await readFile(file, 'utf8')).toContain(`${host}/library/node:99-slim\n`);
  });

  it('is pinned by the Dockerfile', () => {
    expect(readFileSync('Dockerfile', 'utf8')).toMatch(
      /^ARG NODE_IMAGE=docker\.io\/library\/node:\d+-slim@sha256:[0-9a-f]{64}$/m,
    );
  });
});
