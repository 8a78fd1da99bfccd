import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, noteProcess } from '#testing';

/** Every process that names the folder in its environment or its command line. */
function processesOf(folder: string): number[] {
  const names = (id: string, file: string): boolean => {
    try {
      return readFileSync(`/proc/${id}/${file}`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((id) => /^\d+$/.test(id) && Number(id) !== process.pid)
    .filter((id) => names(id, 'environ') || names(id, 'cmdline'))
    .map(Number);
}

/** Starting and ending a Postgres takes a busy machine this long at most. */
const PATIENT = { pauseMs: 50 };

const filesBelow = (folder: string): string[] => {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    // It is being removed.
    return [];
  }
};

describe('A signal to npm', () => {
  /** Every test has its own, but for starts that find the data of an earlier one as well as none. */
  let folder: string;
  let used: string | undefined;
  const folders: string[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'clean-end-'));
    folders.push(folder);
  });
  afterAll(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  const npm = (script: readonly string[], environment: Record<string, string>): ChildProcess => {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn('npm', script, { env: { PATH, HOME, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
    noteProcess(child.pid);
    return child;
  };

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends the gateway started by npm start, and its database',
    async (signal) => {
      // A new database is made once: the second signal is for a gateway that finds what the first one left.
      folder = used ??= folder;
      const child = npm(['start'], { DATA_DIR: join(folder, 'data'), PORT: '0' });
      let output = '';
      child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await eventually(() => output.includes('Ctrl-C stops it'), { ...PATIENT, shows: () => output });
      child.kill(signal);
      await once(child, 'exit');
      await eventually(() => processesOf(folder).length === 0, {
        ...PATIENT,
        shows: () => `left: ${processesOf(folder).join()}`,
      });
      expect(filesBelow(folder).filter((file) => /postmaster\.pid|gateway\.lock/.test(file))).toEqual([]);
    },
  );

  it.each([
    ['twice', /Ctrl-C stops it/, 2],
    ['while it starts', /Admin token/, 1],
  ])('SIGINT %s leaves no database behind either', async (_when, moment, times) => {
    // Only a first start prints the token.
    if (times === 2) folder = used ?? folder;
    const child = npm(['start'], { DATA_DIR: join(folder, 'data'), PORT: '0' });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await eventually(() => moment.test(output), { ...PATIENT, shows: () => output });
    for (let time = 0; time < times; time += 1) child.kill('SIGINT');
    await eventually(() => processesOf(folder).length === 0, {
      ...PATIENT,
      shows: () => `left: ${processesOf(folder).join()}`,
    });
    expect(processesOf(folder)).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    '%s ends a test run with its servers, and no folder stays',
    async (signal) => {
      // On newer versions of Node npm keeps its own code there, compiled, for its next run.
      const env = { TMPDIR: folder, NODE_DISABLE_COMPILE_CACHE: '1' };
      const child = npm(['test', '--', 'tests/money/money.spec.ts'], env);
      await eventually(() => filesBelow(folder).some((file) => file.endsWith('postgres/postmaster.pid')), {
        ...PATIENT,
        shows: () => filesBelow(folder).slice(0, 5).join(),
      });
      // SIGKILL is for the runner itself, which npm could not pass it on to.
      if (signal === 'SIGKILL') process.kill(runnerOf(folder), signal);
      else child.kill(signal);
      await once(child, 'exit');
      const left = (): unknown[] => [...processesOf(folder), ...filesBelow(folder).slice(0, 5)];
      await eventually(() => left().length === 0, { ...PATIENT, shows: () => left().join() });
      expect(left()).toEqual([]);
    },
  );
});

/** The process of Jest itself. Never a guess: a signal to process 0 ends the run of this test, and with it that of everything else. */
function runnerOf(folder: string): number {
  const runner = processesOf(folder).find((id) =>
    readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('jest/bin/jest.js'),
  );
  if (runner === undefined) throw new Error(`no process of Jest names ${folder}`);
  return runner;
}
