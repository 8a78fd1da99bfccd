import type { TextGateway, Upstream } from '../tests/harness/text-vendor/text-gateway.js';
import { type AgentPlace, type AgentRun, makePlace, runCli } from './run-cli.js';
import type { Steps } from './scripted-session.js';

/** The longest that a session may take, its client's start with it. */
export const LIMIT_MS = 120_000;

/** The result of a session, and the content of the file that it was to change. */
export type EndedSession = AgentRun & { readonly notes: string };

/** How a client is set up for a gateway, and how it is asked. */
export interface AgentSetup {
  /** What it is to read before it starts, by path in its place. */
  readonly files?: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly asking: (prompt: string) => readonly string[];
  /** Asks in its last session. */
  readonly resuming: (prompt: string) => readonly string[];
}

export type SetUp = (upstream: Upstream, gateway: TextGateway) => AgentSetup;

/** A client over a gateway. */
export interface Agent {
  readonly path: string;
  /** What the vendor calls of its tools. */
  readonly steps: Steps;
  readonly setUp: SetUp;
  /** By what an image is known in a request that it has looked at. */
  readonly image: string;
  /** The gateway in front of the strict vendor. */
  readonly gateway: () => TextGateway;
}

/** Runs a client with its settings in a place, which stays as it is; `interruption` is when it is interrupted. */
export async function runIn(
  place: AgentPlace,
  path: string,
  { files = {}, environment }: AgentSetup,
  args: readonly string[],
  interruption?: Promise<unknown>,
): Promise<AgentRun> {
  for (const [file, text] of Object.entries(files)) await place.write(file, text);
  return runCli(path, args, place, environment, interruption);
}

/** A session in a place of its own, which is gone afterwards. */
export async function session(
  { path, setUp, gateway }: Agent,
  upstream: Upstream,
  prompt: string,
  over = gateway(),
): Promise<EndedSession> {
  const place = await makePlace();
  const setup = setUp(upstream, over);
  const ended = await runIn(place, path, setup, setup.asking(prompt));
  const notes = await place.notes();
  await place.remove();
  return { ...ended, notes };
}
