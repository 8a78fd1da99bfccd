import type { ChildProcess } from 'node:child_process';
import { Database } from '#platform';
import { freePort, startDurableServices } from '#testing';
import { startServer } from './measure.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';

/** What both servers are asked to take. */
export const BENCH_BODY = JSON.stringify({
  model: 'beta-2.5-preview',
  prompt: 'waves against a lighthouse at dusk, slow dolly in',
  resolution: '480p',
  size: '16:9',
  duration: 5,
  negative_prompt: 'people',
  seed: 7,
  watermark: false,
});

/** The floor and the gateway's API, on the same Postgres and the same Redis. */
export interface GatewayPair {
  readonly floor: ChildProcess;
  readonly floorUrl: string;
  readonly gateway: ChildProcess;
  readonly gatewayUrl: string;
  /** Puts one task into each. */
  submitOne(): Promise<{ floorTaskId: string; taskId: string }>;
  stop(): Promise<void>;
}

/** Starts both, and lets the gateway's account spend without end. */
export async function startGatewayPair(): Promise<GatewayPair> {
  const services = await startDurableServices();
  const environment = gatewayEnvironment(services);
  const [floorPort, gatewayPort] = [await freePort(), await freePort()];
  const floor = await startServer(
    ['--import', './scripts/typescript.mjs', 'bench/floor-server.ts'],
    floorPort,
    environment,
  );
  const gateway = await startServer(['dist/apps/api/src/main.js'], gatewayPort, environment);
  const database = new Database(services.databaseUrl);
  await database.query({ text: 'update account set unlimited = true' });
  await database.close();
  const floorUrl = `http://127.0.0.1:${floorPort}`;
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  return {
    floor,
    floorUrl,
    gateway,
    gatewayUrl,
    submitOne: async () => ({
      floorTaskId: await submit(`${floorUrl}/tasks`),
      taskId: await submit(`${gatewayUrl}/v1/videos/generations`),
    }),
    stop: async () => {
      floor.kill();
      gateway.kill();
      await services.stop();
    },
  };
}

export async function submit(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${BENCH_KEY}` };
  const answer = await fetch(url, { method: 'POST', headers, body: BENCH_BODY });
  const { data } = (await answer.json()) as { data: [{ task_id: string }] };
  return data[0].task_id;
}
