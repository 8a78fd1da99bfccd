import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway, type TestGatewayOptions } from '../test-gateway.js';
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
  /** Makes the account unlimited again, as it is at first: any number of requests may hold money at once. */
  spareMoney(): Promise<void>;
  /** Waits until every request is settled; answers when that was, to the microsecond, by the clock of the database. */
  settled(): Promise<string>;
  /**
   * Gives the account this balance, once the requests before have let go of what they held: it would come on top.
   * A request without a limit may hold all of it until it is settled, which is after its answer.
   */
  setBalance(micros: bigint): Promise<void>;
}

/** The policy that lets everything pass, as an operator would write it. */
export const ALLOW_EVERYTHING =
  'allow: { tools: ["*"], service_tiers: ["*"], account_ids: ["*"], fields: ["*"], betas: ["*"] }';

const upstreams = (baseUrl: string, idleSeconds: number, more: string): string => `
upstreams:
  - { id: responses, protocol: responses, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-5: vendor-responses }, timeouts: { idle_seconds: ${idleSeconds} }${more} }
  - { id: chat, protocol: chat, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-4o-image: vendor-chat }, embedding_models: { text-embedding: vendor-embedding }, timeouts: { idle_seconds: ${idleSeconds} }${more} }
  - { id: messages, protocol: messages, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-haiku-4-5-20251001: vendor-messages }, timeouts: { idle_seconds: ${idleSeconds} }${more} }
  - { id: gemini, protocol: gemini, base_url: "${baseUrl}", key: "\${VENDOR_KEY}", models: { vendor-2.5-flash: vendor-gemini }, timeouts: { idle_seconds: ${idleSeconds} }${more} }
  - { id: sandbox, protocol: sandbox, models: { vendor-4-vision: vendor-4-vision } }
`;

/**
 * Starts both. Call `stop` in `afterAll`.
 *
 * @param environment further variables, as an operator would set them.
 * @param upstream how long each upstream may be silent, further settings of each, and further upstreams, in YAML,
 * where VENDOR_URL is that of the vendor; whether there are workers, which files are read by; and whether money is
 * reserved for a busy key. By default it is not: how much is held would depend on how fast a test asks, and what is
 * reserved is given back only seconds after the last request.
 * @param placed where the database lies, and what it is reached by.
 */
export async function startTextGateway(
  environment: Record<string, string> = {},
  { idleSeconds = 30, settings = '', more = '', workers = false, reservations = false } = {},
  placed: Pick<TestGatewayOptions, 'place' | 'databaseBehind'> = {},
): Promise<TextGateway> {
  const vendor = await FakeTextVendor.start();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-upstreams-'));
  const file = join(folder, 'upstreams.yaml');
  const further = more.replaceAll('VENDOR_URL', vendor.baseUrl);
  await writeFile(file, upstreams(vendor.baseUrl, idleSeconds, settings && `, ${settings}`) + further);
  const gateway = await startTestGateway({
    ...placed,
    workers,
    environment: { UPSTREAMS_FILE: file, VENDOR_KEY: 'sk-vendor', TEXT_RETRY_SECONDS: '0', ...environment },
  });
  if (!reservations)
    await gateway.database.query({
      text: 'alter table request_hold add constraint each_request_its_own check (not is_reservation)',
    });
  return {
    ...gateway,
    vendor,
    key: TEST_KEY,
    spareMoney: async () => {
      const text = 'update account set unlimited = true where id = $1';
      await gateway.database.query({ text, values: [gateway.accountId] });
    },
    settled: () => {
      const text = `select clock_timestamp()::text as at where not exists (select 1 from account where held_micros <> 0)`;
      return eventually(async () => (await gateway.database.query<{ at: string }>({ text, values: [] })).rows[0]?.at);
    },
    setBalance: async (micros) => {
      const text = `update account set available_micros = $2, unlimited = false
        where id = $1 and held_micros = 0 returning id`;
      const values = [gateway.accountId, micros];
      await eventually(async () => (await gateway.database.query({ text, values })).rows.length > 0);
    },
    stop: async (graceMs) => {
      await gateway.stop(graceMs);
      await vendor.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
