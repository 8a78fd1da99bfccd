import { familiesAt, familyOf, GatewayError, type JsonObject, readModelRequest, type SubmissionPath } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

/** Another gateway, scripted: its checks of a body are those of the product itself. A real one proves it, in apps/gateway. */
export class FakeGateway implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'sk-gw-test-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = gatewayRefusal(401, 'invalid_api_key', `The key ${this.key} is not valid.`);
  readonly taken: JsonObject[] = [];
  /** What a taken task says of itself beside what it always says. */
  view: JsonObject = {};
  private readonly byKey = new Map<string, string>();

  reset(): void {
    this.view = {};
  }

  answer({ method, path, headers, body }: FakeRequest): FakeReply {
    if (method === 'GET' && path === '/v1/balance')
      return { body: { success: true, remain_balance: 1, used_balance: 0, unlimited_quota: false } };
    if (method === 'POST' && familiesAt(path as SubmissionPath).length > 0)
      return this.take(path as SubmissionPath, String(headers['idempotency-key']), body);
    const [, id, cancels] = /^\/v1\/tasks\/task_(\d+)(\/cancel)?$/.exec(path) ?? [];
    const order = this.taken[Number(id) - 1];
    if (!order) return gatewayRefusal(404, 'task_not_found', 'No such task.');
    return {
      body: { code: 200, data: cancels && this.view['stoppable'] ? { status: 'cancelled' } : this.viewOf(order) },
    };
  }

  private take(path: SubmissionPath, key: string, body: JsonObject): FakeReply {
    try {
      readModelRequest(path, body);
    } catch (error) {
      if (error instanceof GatewayError) return gatewayRefusal(error.status, error.code, error.publicMessage);
      throw error;
    }
    const id = this.byKey.get(key) ?? `task_${this.taken.push(body)}`;
    this.byKey.set(key, id);
    return { body: { code: 200, data: [{ status: 'submitted', task_id: id }] } };
  }

  private viewOf({ model, return_last_frame: lastFrame }: JsonObject): JsonObject {
    const file = { url: 'https://gateway.example.com/files/1', expires_at: 1_800_000_000 };
    const video = { ...file, content_type: 'video/mp4', duration: 5 };
    const isImage = typeof model === 'string' && familyOf(model)?.medium === 'image';
    const files = isImage ? { images: [{ ...file, content_type: 'image/png' }] } : { videos: [video] };
    return {
      status: 'completed',
      model: model ?? '',
      result: { ...files, ...(lastFrame === true && { last_frame_url: 'https://gateway.example.com/files/2' }) },
      error: null,
      usage: { amount: '0.35', unit: 'credit', quantity: 5, per: 'second', final: true },
      ...this.view,
    };
  }
}

/** A refusal of our own API. */
export const gatewayRefusal = (status: number, code: string, message = 'no words', param?: string): FakeReply => ({
  status,
  body: { error: { code, message, type: 'invalid_request_error', param: param ?? null } },
});
