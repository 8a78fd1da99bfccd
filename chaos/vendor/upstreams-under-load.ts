import { writeFileSync } from 'node:fs';
import { FakeGoogleTokens } from '#vendor-fakes';
import type { ChaosVendor, FirstUpstream } from './chaos-vendor.js';
import { VENDOR_KINDS, VENDORS } from './vendor-kinds.js';

/** The token of the operator of a run. */
export const ADMIN_TOKEN = 'adm-chaos-0123456789abcdef0123456789abcdef';

/** What befalls the upstream that is asked first, turn after turn. */
const TURNS = ['comes', 'busy', 'away', 'unfit', 'drains', 'goes'] as const;

const FIRST_ID = 'first';

/** The upstreams of a run as their operator changes them: in their file, and in the table. */
export class UpstreamsUnderLoad {
  private turn = 0;
  private withSecondGateway = false;

  private constructor(
    /** UPSTREAMS_FILE. */
    readonly file: string,
    private readonly vendor: ChaosVendor,
    private readonly apiUrls: readonly string[],
    private readonly tokens: FakeGoogleTokens,
  ) {}

  static async open(file: string, vendor: ChaosVendor, apiUrls: readonly string[]): Promise<UpstreamsUnderLoad> {
    const tokens = await FakeGoogleTokens.start(vendor.access('inline').key);
    const upstreams = new UpstreamsUnderLoad(file, vendor, apiUrls, tokens);
    upstreams.write();
    return upstreams;
  }

  /** Where tokens are made. */
  get tokenHost(): string {
    return new URL(this.tokens.uri).host;
  }

  /** The file of the next release: another upstream takes over what one of it made, which drains; or the other way round. */
  changeFile(): void {
    this.withSecondGateway = !this.withSecondGateway;
    this.write();
  }

  /** The next of what can befall an upstream that is asked first: an API that is dead is not asked, but the other. */
  async changeTable(): Promise<void> {
    const step = TURNS[this.turn % TURNS.length] ?? 'goes';
    this.turn += 1;
    if (step === 'comes') {
      const { base_url: baseUrl, key } = this.vendor.access('first');
      this.vendor.first = 'open';
      await this.admin('POST', '/upstreams', { ...entry(FIRST_ID, 'gateway'), kind: 'media', base_url: baseUrl, key });
    } else if (step === 'drains') {
      this.vendor.first = 'open';
      await this.admin('PATCH', `/upstreams/${FIRST_ID}`, { enabled: false });
    } else if (step === 'goes') await this.admin('DELETE', `/upstreams/${FIRST_ID}`);
    else this.vendor.first = step satisfies FirstUpstream;
  }

  /** Resets everything; the first upstream continues the work it has. */
  async calm(): Promise<void> {
    this.vendor.first = 'open';
    if (this.turn > 0) await this.admin('DELETE', `/upstreams/${FIRST_ID}`);
    this.turn = 0;
    this.withSecondGateway = false;
    this.write();
  }

  close(): Promise<void> {
    return this.tokens.close();
  }

  private write(): void {
    const entries = VENDOR_KINDS.map((kind) => ({
      ...entry(kind, VENDORS[kind].protocol),
      ...this.vendor.access(kind),
      ...(kind === 'inline' && { key: this.tokens.key }),
      ...(kind === 'lookup' && { models: { 'delta-v2-6': { name: 'kling-v2-6', references: 'inline' } } }),
      ...(kind === 'idempotent' && this.withSecondGateway && { weight: 0 }),
      priority: 1,
    }));
    const second = { ...entry('second', 'gateway'), ...this.vendor.access('first'), priority: 1 };
    const all = this.withSecondGateway ? [...entries, second] : entries;
    writeFileSync(this.file, JSON.stringify({ media_upstreams: all }));
  }

  private async admin(method: string, path: string, body?: object): Promise<void> {
    for (const url of this.apiUrls) {
      const answer = await fetch(`${url}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      }).catch(() => null);
      if (answer?.ok === true) return;
      if (answer && answer.status < 500 && answer.status !== 404 && answer.status !== 409)
        throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    }
  }
}

/** An upstream of the models that the gateway's own protocol makes here, or of all that another one makes. */
const entry = (id: string, protocol: string) => ({
  id,
  protocol,
  models:
    protocol === 'gateway'
      ? { 'eta-image-2.0': 'eta-image-2.0', 'beta-2.5-preview': 'beta-2.5-preview' }
      : ('all' as const),
});
