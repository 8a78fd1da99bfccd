import type { JsonObject, MediaOrder, Operation, Started } from '#contracts';
import { SafeFetcher } from '#platform';
import { HttpMediaUpstream, type HttpMediaUpstreamParts } from '../http/http-media-upstream.js';
import type { MediaCodec } from '../http/media-codec.js';
import { VendorHttp } from '../http/vendor-http.js';
import { VendorCosts } from '../vendor-costs.js';
import { FakeVendor, type FakeProtocol } from './fake-vendor.js';
import { orderOfBody } from './sample-requests.js';
import { type TestCall, testCall } from './test-call.js';

/** An adapter connected to a fake of its vendor. */
export interface ConnectedFake<Protocol extends FakeProtocol> {
  readonly vendor: FakeVendor<Protocol>;
  readonly upstream: HttpMediaUpstream;
  /** The same upstream as another process would open it. */
  readonly other: (changes?: Partial<HttpMediaUpstreamParts>) => HttpMediaUpstream;
  /** Plans an order and makes the call for it. @throws Error when it cannot be made. */
  readonly prepare: (body: JsonObject, signal?: AbortSignal) => { readonly order: MediaOrder; readonly call: TestCall };
  readonly start: (body: JsonObject) => Promise<{ readonly started: Started; readonly call: TestCall }>;
  /** Starts, and hands the operation over as a row does. */
  readonly running: (body: JsonObject) => Promise<{ readonly operation: Operation; readonly call: TestCall }>;
  readonly close: () => Promise<void>;
}

export async function connectFake<Protocol extends FakeProtocol>(
  codec: MediaCodec,
  fake: () => Protocol,
): Promise<ConnectedFake<Protocol>> {
  const protocol = fake();
  const vendor = await FakeVendor.start(protocol);
  const opened: HttpMediaUpstream[] = [];
  const fetcher = localFetcher();
  const other = (changes: Partial<HttpMediaUpstreamParts> = {}): HttpMediaUpstream => {
    const upstream = new HttpMediaUpstream({
      id: 'vendor-1',
      vendorAccount: 'account-1',
      codec,
      http: new VendorHttp(vendor.baseUrl),
      key: protocol.key,
      fetcher,
      models: new Map([...codec.models].map(([model, name]) => [model, { name }])),
      costs: new VendorCosts({}, 'USD'),
      canLink: true,
      ...changes,
    });
    opened.push(upstream);
    return upstream;
  };
  const upstream = other();
  const prepare = preparing(upstream);
  const start: ConnectedFake<Protocol>['start'] = async (body) => {
    const { order, call } = prepare(body);
    return { started: await upstream.start(order, call), call };
  };
  return {
    vendor,
    upstream,
    other,
    prepare,
    start,
    running: async (body) => {
      const { started, call } = await start(body);
      return { operation: handedOver(started), call };
    },
    close: async () => {
      await Promise.all([fetcher.close(), ...opened.map((each) => each.close())]);
      await vendor.close();
    },
  };
}

/** Reaches fakes as well. */
const localFetcher = (): SafeFetcher => new SafeFetcher({ allow: ['127.0.0.0/8'], ports: 'any', maxRedirects: 0 });

/** Plans orders, each under a task id of its own. */
function preparing(upstream: HttpMediaUpstream): ConnectedFake<FakeProtocol>['prepare'] {
  let orders = 0;
  return (body, signal) => {
    const order = orderOfBody(body, `task_${(orders += 1)}`);
    const plan = upstream.plan(order);
    if ('cannot' in plan) throw new Error(plan.cannot);
    return { order, call: testCall(order, plan.ticket, signal) };
  };
}

function handedOver(started: Started): Operation {
  if (started.kind !== 'operation') throw new Error('the vendor answered with the files');
  return JSON.parse(JSON.stringify(started.operation)) as Operation;
}
