import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, TEST_KEY, type TestGateway } from '../test-gateway.js';
import { FakeTextVendor } from './fake-text-vendor.js';

/** The public model that reaches each protocol of the fake vendor, and the sandbox. */
export const MODEL_OVER = {
  responses: 'vendor-5',
  chat: 'vendor-4o-image',
  messages: 'vendor-haiku-4-5-20251001',
  gemini: 'vendor-2.5-flash',
  sandbox: 'vendor-4-vision',
} as const;

export type Upstream = keyof typeof MODEL_OVER;
export const UPSTREAMS = Object.keys(MODEL_OVER) as readonly Upstream[];

/** A gateway in front of a fake vendor that speaks every protocol, configured by a file as an operator would. */
export interface TextGateway extends TestGateway {
  readonly vendor: FakeTextVendor;
  readonly key: string;
}

const upstreams = (baseUrl: string): string => `
upstreams:
  - { id: responses, protocol: responses, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-5: vendor-responses }, timeouts: { idle_seconds: 0.2 } }
  - { id: chat, protocol: chat, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-4o-image: vendor-chat }, timeouts: { idle_seconds: 0.2 } }
  - { id: messages, protocol: messages, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-haiku-4-5-20251001: vendor-messages }, timeouts: { idle_seconds: 0.2 } }
  - { id: gemini, protocol: gemini, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-2.5-flash: vendor-gemini }, timeouts: { idle_seconds: 0.2 } }
  - { id: writer, protocol: sandbox, models: { vendor-4-vision: vendor-4-vision } }
`;

/** Starts both. Call `stop` in `afterAll`. */
export async function startTextGateway(): Promise<TextGateway> {
  const vendor = await FakeTextVendor.start();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-upstreams-'));
  const file = join(folder, 'upstreams.yaml');
  await writeFile(file, upstreams(vendor.baseUrl));
  const gateway = await startTestGateway({
    workers: false,
    environment: { UPSTREAMS_FILE: file, VENDOR_KEY: 'sk-vendor', TEXT_RETRY_SECONDS: '0' },
  });
  return {
    ...gateway,
    vendor,
    key: TEST_KEY,
    stop: async () => {
      await gateway.stop();
      await vendor.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
