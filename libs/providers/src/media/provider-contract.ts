import {
  type MediaOrder,
  type MediaProvider,
  type Operation,
  type OperationState,
  ProviderError,
  TASK_FAILURES,
} from '#contracts';

/** How an adapter's vendor behaves in a test. */
export type VendorBehaviour =
  /** Takes the order and finishes it. */
  | 'delivers'
  /** Takes the order and is still working whenever it is asked. */
  | 'works'
  /** Takes the order and then fails it. */
  | 'fails'
  /** Cannot take an order right now. */
  | 'unavailable';

/** One adapter under the contract. */
export interface ProviderCase {
  readonly id: string;
  /** A fresh adapter whose vendor behaves so, and an order that fits. A second call stands for another process. */
  readonly connect: (behaviour: VendorBehaviour) => ConnectedProvider;
}

/** An adapter with an order that its vendor understands. */
export interface ConnectedProvider {
  readonly provider: MediaProvider;
  readonly order: MediaOrder;
  /** Lets the vendor's work end. */
  readonly finish: () => void;
}

const signal = new AbortController().signal;

/** The guarantees of every adapter: call it once in each `<vendor>.provider.spec.ts`. */
export function providerContract(providerCase: ProviderCase): void {
  describe(`${providerCase.id} keeps the provider contract`, () => {
    startingContract(providerCase);
    checkingContract(providerCase);
  });
}

function startingContract({ id, connect }: ProviderCase): void {
  it('has the id it is registered under', () => {
    expect(connect('delivers').provider.id).toBe(id);
  });

  it('can look an order up exactly when it says so', () => {
    const { provider } = connect('delivers');
    expect(provider.find !== undefined).toBe(provider.repeatStart === 'lookup');
  });

  it('starts with an operation that survives JSON, so that any process can continue', async () => {
    const { provider, order } = connect('delivers');
    const operation = await provider.start(order, signal);
    expect(JSON.parse(JSON.stringify(operation))).toEqual(operation);
  });

  it('keeps inline files out of the operation, which is saved in the task row', async () => {
    const { provider, order } = connect('delivers');
    const inline = `data:image/png;base64,${'A'.repeat(100_000)}`;
    const operation = await provider.start(
      { ...order, parameters: { ...order.parameters, image_urls: [inline] } },
      signal,
    );
    expect(JSON.stringify(operation).length).toBeLessThan(20_000);
  });

  it('throws a retryable error when the vendor cannot take an order right now', async () => {
    const { provider, order } = connect('unavailable');
    const failure: unknown = await provider.start(order, signal).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({ kind: 'retryable' });
  });

  it('does nothing for a caller that has already given up', async () => {
    const { provider, order } = connect('delivers');
    await expect(provider.start(order, AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
}

function checkingContract({ connect }: ProviderCase): void {
  it('says pending while the vendor works, with a progress below 100 if any', async () => {
    const { provider, order } = connect('works');
    const state = await provider.check(await provider.start(order, signal), signal);
    expect(state.state).toBe('pending');
    const { pollDelayMs = 1, progressPercent = 0 } = state as Extract<OperationState, { state: 'pending' }>;
    expect(pollDelayMs).toBeGreaterThan(0);
    expect(progressPercent).toBeGreaterThanOrEqual(0);
    expect(progressPercent).toBeLessThan(100);
  });

  it('delivers files of a stated type to a process that did not start the work', async () => {
    const { next, operation } = await startThenHandOver(connect, 'delivers');
    const state = await next.check(operation, signal);
    expect(state).toMatchObject({ state: 'succeeded' });
    const { outputs } = state as Extract<OperationState, { state: 'succeeded' }>;
    expect(outputs.length).toBeGreaterThan(0);
    for (const { contentType, url } of outputs) {
      expect(contentType).toMatch(/^(image|video)\/[a-z0-9]+$/);
      expect(URL.canParse(url)).toBe(true);
    }
  });

  it('answers the same when it is asked again', async () => {
    const { next, operation } = await startThenHandOver(connect, 'delivers');
    expect(await next.check(operation, signal)).toEqual(await next.check(operation, signal));
  });

  it('reports work that failed as a state with a public reason instead of throwing', async () => {
    const { next, operation } = await startThenHandOver(connect, 'fails');
    const state = await next.check(operation, signal);
    expect(state).toMatchObject({ state: 'failed', publicReason: expect.stringMatching(/\S/) });
    const { code } = state as Extract<OperationState, { state: 'failed' }>;
    expect(Object.keys(TASK_FAILURES)).toContain(code);
  });
}

/** Starts with one adapter and continues with another, as after a crash. */
async function startThenHandOver(
  connect: ProviderCase['connect'],
  behaviour: VendorBehaviour,
): Promise<{ next: MediaProvider; operation: Operation }> {
  const first = connect(behaviour);
  const operation = await first.provider.start(first.order, signal);
  const second = connect(behaviour);
  second.finish();
  return { next: second.provider, operation: JSON.parse(JSON.stringify(operation)) as Operation };
}
