import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformFile } from '@swc/core';
import render from './render.js';
import { RenderPool } from './render-pool.js';
import type { RenderRequest } from './render-request.js';

const REQUEST: RenderRequest = {
  kind: 'video',
  scene: {
    model: 'gamma-3.1-quality-official',
    prompt: 'A lighthouse',
    seed: 1,
    index: 0,
    count: 1,
    width: 3840,
    height: 2160,
    watermark: false,
    facts: [],
  },
  video: { durationSeconds: 8, audibleSeconds: 8 },
};

/** Compiles the renderer as the build does, since threads load no TypeScript. */
async function compileRenderer(target: string): Promise<URL> {
  const source = dirname(fileURLToPath(import.meta.url));
  const files = await readdir(source, { recursive: true });
  await writeFile(join(target, 'package.json'), '{"type":"module"}');
  for (const file of files.filter((name) => name.endsWith('.ts') && !/\.spec\.|decoders|render-pool/.test(name))) {
    const { code } = await transformFile(join(source, file), { swcrc: true });
    const script = join(target, file.replace(/\.ts$/, '.js'));
    await mkdir(dirname(script), { recursive: true });
    await writeFile(script, code);
  }
  return pathToFileURL(join(target, 'render.js'));
}

describe('RenderPool with threads, as in production', () => {
  let folder: string;
  let pool: RenderPool;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'render-pool-'));
    pool = new RenderPool(await compileRenderer(folder));
  });

  afterAll(async () => {
    await pool.close();
    await rm(folder, { recursive: true });
  });

  it('renders the same bytes as the calling thread would', async () => {
    const file = await pool.render(REQUEST, new AbortController().signal);
    expect(Buffer.compare(file, render(REQUEST))).toBe(0);
  });

  it('leaves the event loop free while it renders', async () => {
    let turns = 0;
    const count = setInterval(() => turns++, 1);
    await pool.render(REQUEST, new AbortController().signal);
    clearInterval(count);
    expect(turns).toBeGreaterThan(10);
  });

  it('stops a render whose caller gives up, and continues with the next', async () => {
    const caller = new AbortController();
    const abandoned = pool.render(REQUEST, caller.signal);
    caller.abort();
    await expect(abandoned).rejects.toThrow(/abort/i);
    expect((await pool.render(REQUEST, new AbortController().signal)).length).toBeGreaterThan(100_000);
  });

  it('passes a refusal of the renderer on', async () => {
    const odd = { ...REQUEST, scene: { ...REQUEST.scene, width: 3841 } };
    await expect(pool.render(odd, new AbortController().signal)).rejects.toThrow('even sides');
  });
});
