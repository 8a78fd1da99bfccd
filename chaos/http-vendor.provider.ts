import { type MediaOrder, type MediaProvider, type Operation, type OperationState, ProviderError } from '#contracts';
import { abortAfter } from '#platform';
import { request } from 'undici';
import type { RepeatStart } from './assignment.js';
import { POISON } from './poison.js';
import { SEARCHABLE_AFTER_MS } from './vendor-delays.js';

/** The longest a call may take, in milliseconds; a vendor that stalls is given up then. */
const TIMEOUT_MS = 2_000;

interface Reply {
  readonly status: number;
  readonly retryAfterMs: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Speaks to the fake vendor, as an adapter for a real one would. Stands in for the sandbox, so it has its id. */
export class HttpVendorProvider implements MediaProvider {
  readonly id = 'sandbox';
  readonly startTimeoutMs = TIMEOUT_MS;
  readonly findableAfterMs = 2 * SEARCHABLE_AFTER_MS;

  repeatStart: RepeatStart = 'idempotent';
  /** Only while the vendor can be searched. */
  find?: (taskId: string, signal: AbortSignal) => Promise<Operation | null>;

  constructor(private readonly vendorUrl: string) {}

  /** What the vendor does with repeated orders from now on. */
  become(repeatStart: RepeatStart): void {
    this.repeatStart = repeatStart;
    if (repeatStart === 'lookup') this.find = (taskId, signal) => this.search(taskId, signal);
    else delete this.find;
  }

  async start({ taskId, medium, parameters }: MediaOrder, signal: AbortSignal): Promise<Operation> {
    // As a decoder would that crashes, or a process that has no memory left.
    if (parameters['prompt'] === POISON) process.kill(process.pid, 'SIGKILL');
    const reply = await this.call('POST', '/orders', signal, { task_id: taskId, medium }).catch((error: unknown) => {
      // A refused connection is the only break that proves that nothing was sent.
      const unsent = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
      throw new ProviderError(unsent ? 'retryable' : 'ambiguous', 'The vendor did not answer.', { cause: error });
    });
    if (reply.status === 429)
      throw new ProviderError('retryable', 'The vendor is busy.', { retryAfterMs: reply.retryAfterMs });
    if (reply.status >= 500) throw new ProviderError('retryable', 'The vendor is away.');
    return { order_id: reply.body['order_id'] as string };
  }

  async check(operation: Operation, signal: AbortSignal): Promise<OperationState> {
    const { status, body, retryAfterMs } = await this.ask(`/orders/${operation['order_id'] as string}`, signal);
    if (status === 429) throw new ProviderError('retryable', 'The vendor is busy.', { retryAfterMs });
    if (body['state'] !== 'done') return { state: 'pending', pollDelayMs: 150 };
    return {
      state: 'succeeded',
      outputs: [{ role: 'output', contentType: String(body['content_type']), url: String(body['url']) }],
    };
  }

  private async search(taskId: string, signal: AbortSignal): Promise<Operation | null> {
    const { body } = await this.ask(`/orders?task_id=${taskId}`, signal);
    return typeof body['order_id'] === 'string' ? { order_id: body['order_id'] } : null;
  }

  private ask(path: string, signal: AbortSignal): Promise<Reply> {
    return this.call('GET', path, signal).catch((error: unknown) => {
      throw new ProviderError('retryable', 'The vendor did not answer.', { cause: error });
    });
  }

  private async call(method: 'GET' | 'POST', path: string, signal: AbortSignal, body?: object): Promise<Reply> {
    const reply = await request(this.vendorUrl + path, {
      method,
      signal: abortAfter(TIMEOUT_MS, signal),
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await reply.body.text();
    return {
      status: reply.statusCode,
      retryAfterMs: Number(reply.headers['retry-after'] ?? 0) * 1000,
      body: text ? (JSON.parse(text) as Reply['body']) : {},
    };
  }
}
