import { type ChildProcess, spawn } from 'node:child_process';
import { eventually, noteProcess, sharedBundle } from '#testing';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';

/** A process of ours, started from `dist` as an operator would. */
export interface SpawnedProcess {
  readonly child: ChildProcess;
  /** Everything it wrote so far. */
  output(): string;
  /** Resolves when its output matches. @throws Error with the output when it exits first or 200 s pass. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal and resolves as `exited` does. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Resolves with the exit code when all that it wrote has come; with null, maybe sooner, when a signal ended it. */
  exited(): Promise<number | null>;
}

const WAIT_MS = 200_000;

/** Log lines, not what is said to people, join the log of the test run, which is searched for secrets. */
function keepLog(output: string): void {
  const { TEST_LOG_FILE: file } = process.env;
  if (file) appendFileSync(file, output.replaceAll(/^(?!\{).*\n?/gm, ''));
}

/** Starts `apps/<app>`, bundled; only the given variables and PATH are set. */
export const spawnApp = (app: string, environment: Record<string, string>): Promise<SpawnedProcess> =>
  spawnProgram(`dist/apps/${app}/src/main.js`, environment);

/** Starts a built program or a script, bundled; only the given variables and PATH are set. */
export const spawnProgram = async (program: string, environment: Record<string, string>): Promise<SpawnedProcess> =>
  spawnScript([await sharedBundle(program)], environment);

/** Starts a script with its arguments, in a folder; only the given variables and PATH are set. */
export function spawnScript(
  script: readonly [string, ...string[]],
  environment: Record<string, string>,
  folder = process.cwd(),
): SpawnedProcess {
  const child = spawn(process.execPath, script, {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  noteProcess(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // Its last words may come after its end. One that a signal ended may leave others behind that could write there still.
  let isSilent = false;
  const silent = once(child, 'close').then(() => {
    isSilent = true;
    keepLog(output);
  });
  const exit = once(child, 'exit').then(async ([code]) => {
    if (code !== null) await silent;
    return code as number | null;
  });
  return {
    child,
    output: () => output,
    waitFor: (pattern) =>
      eventually(
        () => {
          const match = pattern.exec(output);
          if (!match && isSilent) throw new Error(`${script.join(' ')} never wrote ${pattern}: ${output}`);
          return match;
        },
        { limitMs: WAIT_MS, pauseMs: 20, shows: () => `${script.join(' ')} never wrote ${pattern}: ${output}` },
      ),
    end: (signal) => {
      child.kill(signal);
      return exit;
    },
    exited: () => exit,
  };
}
