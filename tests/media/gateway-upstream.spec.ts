import { plainToInstance } from 'class-transformer';
import {
  CATALOG,
  type MediaOrder,
  type MediaUpstream,
  MODEL_IDS,
  type ModelFamily,
  type ModelRequest,
  type Operation,
  type OperationState,
  type VendorCall,
} from '#contracts';
import { MediaUpstreamEntry, openMediaUpstreams, type OpenMediaUpstreams } from '#providers';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

const signal = new AbortController().signal;

/** A body that a model accepts: the example of its family, or the same with an image where it needs one. */
function requestOf(family: ModelFamily, model: string): ModelRequest {
  const body = { ...family.example, model, prompt: '[sandbox:hang] a heron' };
  try {
    return family.read(body);
  } catch {
    return family.read({ ...body, first_frame_image: 'https://media.example.com/heron.png' });
  }
}

const orderOf = (family: ModelFamily, request: ModelRequest, taskId: string): MediaOrder => ({
  taskId,
  ...request,
  references: [],
  output: family.output(request.parameters),
});

/** Another gateway as an upstream: what the contract says against its fake, held against the product itself. */
describe('protocol gateway, against a real gateway', () => {
  let gateway: TestGateway;
  let opened: OpenMediaUpstreams;
  let upstream: MediaUpstream;

  beforeAll(async () => {
    gateway = await startTestGateway();
    opened = openMediaUpstreams();
    upstream = open(TEST_KEY);
  });
  afterAll(async () => {
    await upstream.close();
    await opened.close();
    await gateway.stop();
  });

  const open = (key: string): MediaUpstream =>
    opened.open(
      plainToInstance(
        MediaUpstreamEntry,
        { id: 'peer', protocol: 'gateway', base_url: gateway.baseUrl, key, models: 'all' },
        { exposeDefaultValues: true },
      ),
    ).upstream;

  const callFor = (order: MediaOrder): VendorCall => {
    const plan = upstream.plan(order);
    if ('cannot' in plan) throw new Error(plan.cannot);
    return {
      signal,
      ticket: plan.ticket,
      note: () => undefined,
      files: { get: () => fail() },
      spool: { keep: () => fail() },
    };
  };
  const fail = (): never => {
    throw new Error('a gateway takes files in the words of the caller');
  };

  async function start(family: ModelFamily, request: ModelRequest, taskId: string) {
    const order = orderOf(family, request, taskId);
    const call = callFor(order);
    const started = await upstream.start(order, call);
    if (started.kind !== 'operation') throw new Error('a gateway answers with an operation');
    return { order, call, operation: started.operation };
  }

  async function ended(operation: Operation, call: VendorCall): Promise<OperationState> {
    for (;;) {
      const state = await upstream.check(operation, call);
      if (state.state !== 'pending') return state;
      await gateway.send('GET', `/v1/tasks/${operation['taskId'] as string}?wait=5`);
    }
  }

  it('makes every model', async () => {
    const taken: string[] = [];
    for (const family of CATALOG as readonly ModelFamily[]) {
      for (const model of family.models) {
        const { operation } = await start(family, requestOf(family, model), `order-${model}`);
        expect(operation).toMatchObject({ medium: family.medium });
        taken.push(model);
      }
    }
    expect(taken).toEqual(MODEL_IDS);
  });

  it('creates one order when the same order is sent again', async () => {
    const family = CATALOG[0] as ModelFamily;
    const request = requestOf(family, 'alpha-2.0');
    const first = await start(family, request, 'order-again');
    expect((await start(family, request, 'order-again')).operation).toEqual(first.operation);
  });

  it('does not find an order whose first request is still being read', async () => {
    const family = CATALOG[0] as ModelFamily;
    const request = requestOf(family, 'alpha-2.0');
    const sent = await Promise.allSettled([1, 2, 3].map(() => start(family, request, 'order-at-once')));
    const operations = sent.flatMap((each) => (each.status === 'fulfilled' ? [each.value.operation] : []));
    const failures = sent.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(new Set(operations.map((operation) => JSON.stringify(operation))).size).toBe(1);
    for (const failure of failures) expect(failure).toMatchObject({ kind: 'ambiguous' });
  });

  it('polls an image until its file is ready, and reports its cost', async () => {
    const family = CATALOG.find(({ id }) => id === 'theta') as ModelFamily;
    const request = family.read({ model: 'theta-image-turbo', prompt: 'a lighthouse' });
    const { operation, call } = await start(family, request, 'order-image');
    const noted: unknown[] = [];
    const state = await ended(operation, { ...call, note: (facts) => void noted.push(facts) });
    expect(state).toMatchObject({ state: 'succeeded', outputs: [{ role: 'output', contentType: 'image/png' }] });
    expect(noted).toContainEqual({
      cost: { micros: expect.any(BigInt), unit: 'USD', worthMicros: expect.any(BigInt) },
    });
    const [output] = state.state === 'succeeded' ? state.outputs : [];
    expect((await fetch(output?.url ?? '')).status).toBe(200);
  });

  it('reports a refusal of the content', async () => {
    const family = CATALOG.find(({ id }) => id === 'theta') as ModelFamily;
    const request = family.read({ model: 'theta-image-turbo', prompt: '[sandbox:fail=content_policy] x' });
    const { operation, call } = await start(family, request, 'order-refused');
    expect(await ended(operation, call)).toMatchObject({ state: 'failed', code: 'content_policy' });
  });

  it('cancels an order that hangs', async () => {
    const family = CATALOG[0] as ModelFamily;
    const { operation, call } = await start(family, requestOf(family, 'alpha-2.0'), 'order-stopped');
    await upstream.cancel?.(operation, call);
    expect(await ended(operation, call)).toMatchObject({
      state: 'failed',
      publicReason: 'The vendor stopped working on the order.',
    });
  });

  it('accepts a right key, and reports a wrong one', async () => {
    const call = { signal, note: () => undefined };
    expect(await upstream.verify(call)).toEqual({ ok: true });
    const stranger = open('sk-gw-of-another-account');
    expect(await stranger.verify(call)).toMatchObject({ ok: false, problem: 'wrong_key' });
    await stranger.close();
  });
});
