import { createApi } from '../../apps/api/src/create-api.js';
import { consoleLink } from '../../apps/api/src/seed.js';
import type { TestGateway } from './test-gateway.js';

/** One-time links to the console of a test gateway, each as an embedded start prints one. */
export interface ConsoleLinks {
  next(): Promise<string>;
  close(): Promise<void>;
}

/** Call `close` in `afterAll`, before the gateway stops. */
export async function consoleLinks({ platform, baseUrl }: TestGateway): Promise<ConsoleLinks> {
  const api = await createApi(platform);
  await api.init();
  return { next: () => consoleLink(api, baseUrl), close: () => api.close() };
}
