import { type JsonObject, MediaFailure } from '#contracts';
import { isDone } from '../http/media-codec.js';
import { VendorHttp } from '../http/vendor-http.js';
import type { ConnectedFake } from './connected-fake.js';
import type { FakeProtocol, Fault } from './fake-vendor.js';
import { type ContractCase, guarantee } from './contract-case.js';
import { testCall } from './test-call.js';

type Protocols = FakeProtocol & { readonly taken: readonly unknown[] };

/** Cases 9 to 16: what the line does, and what that says about the order. */
export function linesContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const { order: body } = contract;
  factsContract(contract, connected);
  brokenLinesContract(contract, connected);
  guarantee('9: sends nothing for a caller that has given up', async () => {
    const { upstream, prepare, vendor } = connected();
    const { order, call } = prepare(body, AbortSignal.abort());
    await expect(upstream.start(order, call)).rejects.toThrow(/abort/i);
    expect(vendor.requests).toEqual([]);
  });

  guarantee('10: shows the key in one header and nowhere else', async () => {
    const { start, vendor } = connected();
    await start(body);
    const [request] = vendor.requests;
    const { key, keyHeader } = vendor.protocol;
    const holding = Object.entries(request?.headers ?? {}).filter(([, value]) => String(value).includes(key));
    expect(holding).toEqual([[keyHeader.name, keyHeader.value]]);
    expect(`${request?.path} ${request?.query.toString()} ${JSON.stringify(request?.body)}`).not.toContain(key);
  });

  guarantee('10: repeats the key in no failure, though the vendor does', async () => {
    const { key } = connected().vendor.protocol;
    const reply = { status: 401, body: { error: { code: 'wrong', message: `The key ${key} is wrong` } } };
    const failure = await failedStart(connected(), body, reply);
    expect(JSON.stringify([failure.vendor, failure.message, failure.publicReason])).not.toContain(key);
  });

  guarantee('11: follows no redirect with the key', async () => {
    const { vendor } = connected();
    expect(await failedStart(connected(), body, 'redirect')).toMatchObject({ kind: 'unfit' });
    expect(vendor.requests).toHaveLength(1);
  });
}

function brokenLinesContract<Protocol extends Protocols>(
  { order: body }: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  guarantee('12: is unavailable when the connection is refused', async () => {
    const { other, prepare } = connected();
    const { order, call } = prepare(body);
    const closed = other({ http: new VendorHttp('http://127.0.0.1:1') });
    await expect(closed.start(order, call)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  guarantee('14: does not know when the line is cut after the order was taken', async () => {
    const { vendor } = connected();
    const before = vendor.protocol.taken.length;
    expect(await failedStart(connected(), body, 'cut-after')).toMatchObject({ kind: 'ambiguous' });
    expect(vendor.protocol.taken.length).toBe(before + 1);
  });

  guarantee('14: does not know when its time is up while the vendor is silent', async () => {
    const { upstream, prepare, vendor } = connected();
    const leaving = new AbortController();
    const { order, call } = prepare(body, leaving.signal);
    vendor.next('silent');
    const starting = upstream.start(order, call).catch((error: unknown) => error);
    while (vendor.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    expect(await starting).toMatchObject({ kind: 'ambiguous' });
  });

  guarantee.each<Fault>(['garbage', 'html', 'huge'])(
    '15: does not know when a start is answered with %s',
    async (fault) => {
      expect(await failedStart(connected(), body, fault)).toMatchObject({ kind: 'ambiguous' });
    },
  );

  guarantee.each([500, 502, 503, 504])('16: does not know after a %i whether the order was taken', async (status) => {
    const failure = await failedStart(connected(), body, { status, body: { error: { code: 'x', message: 'x' } } });
    expect(failure.kind).toBe('ambiguous');
  });
}

function factsContract<Protocol extends Protocols>(
  { order: body }: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  guarantee('39: notes the id of the request when it succeeds and when it does not', async () => {
    const { start, upstream, prepare, vendor } = connected();
    const taken = (await start(body)).call.noted();
    expect(taken).toMatchObject({ requestId: 'vendor-request-1', status: expect.any(Number) });
    expect(isDone(taken.status ?? 0)).toBe(true);
    const { order, call } = prepare(body);
    vendor.next({ status: 429, body: {} });
    await upstream.start(order, call).catch(() => undefined);
    expect(call.noted()).toMatchObject({ requestId: 'vendor-request-1', status: 429 });
  });

  guarantee('43: names a clock that is ten minutes off', async () => {
    const { start, vendor } = connected();
    vendor.clockSkewMs = 600_000;
    const { clockSkewMs = 0 } = (await start(body)).call.noted();
    expect(Math.abs(clockSkewMs - 600_000)).toBeLessThan(30_000);
  });

  guarantee('41: proves the key without ordering anything, and tells a wrong one', async () => {
    const { upstream, other, prepare, vendor } = connected();
    const before = vendor.protocol.taken.length;
    const { order } = prepare(body);
    const call = testCall(order, { upstream: 'vendor-1', model: 'm' });
    expect(await upstream.verify(call)).toEqual({ ok: true });
    expect(await other({ key: 'another-key' }).verify(call)).toMatchObject({ ok: false, problem: 'wrong_key' });
    vendor.next('html');
    expect(await upstream.verify(call)).toMatchObject({ ok: false, problem: 'not_this_protocol' });
    vendor.next('cut-early');
    expect(await upstream.verify(call)).toMatchObject({ ok: false, problem: 'away' });
    expect(vendor.protocol.taken.length).toBe(before);
  });
}

/** What a start throws when this happens to its request. */
export async function failedStart(
  { upstream, prepare, vendor }: ConnectedFake<FakeProtocol>,
  body: JsonObject,
  fault: Fault,
): Promise<MediaFailure> {
  const { order, call } = prepare(body);
  vendor.next(fault);
  const failure: unknown = await upstream.start(order, call).catch((error: unknown) => error);
  if (failure instanceof MediaFailure) return failure;
  throw new Error(`expected a MediaFailure, got ${String(failure)}`);
}
