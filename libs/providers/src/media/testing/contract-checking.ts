import { MEDIA_REASONS, MediaFailure, type Operation } from '#contracts';
import type { ConnectedFake } from './connected-fake.js';
import type { FakeProtocol, Fault } from './fake-vendor.js';
import { type ContractCase, ENVELOPES, guarantee, stateTest } from './contract-case.js';
import { casesOfState } from './contract-cases.js';

type Protocols = FakeProtocol & { readonly taken: readonly unknown[] };

/** Cases 22 to 36 and 40: the states of accepted work. */
export function checkingContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const { order: body, states = [], strange } = contract;
  verbsContract(contract, connected);
  questionsContract(contract, connected);
  for (const [what, script, expected, ordered = body] of states)
    stateTest(casesOfState(expected), `22-32: reads ${what}`, async () => {
      const { running, upstream, vendor } = connected();
      const { operation, call } = await running(ordered);
      script(vendor.protocol);
      expect(await upstream.check(old(operation), call)).toMatchObject(expected);
    });

  for (const [how, wrapped] of ENVELOPES)
    // Which cases are covered is up to the states: this test alone proves none.
    it(`22-32: reads every state and result that a reseller wraps ${how}`, async () => {
      for (const [what, script, expected, ordered = body] of states) {
        const { running, upstream, vendor } = connected();
        vendor.reset();
        vendor.wrapped = wrapped;
        const { operation, call } = await running(ordered);
        script(vendor.protocol);
        expect({ what, ...(await upstream.check(old(operation), call)) }).toMatchObject({ what, ...expected });
      }
    });

  guarantee('23: tells only our own sentences of failed work', async () => {
    const known: readonly string[] = Object.values(MEDIA_REASONS).map(({ publicReason }) => publicReason);
    for (const [, script, , ordered = body] of states) {
      const { running, upstream, vendor } = connected();
      const { operation, call } = await running(ordered);
      script(vendor.protocol);
      const state = await upstream.check(operation, call);
      if (state.state === 'failed') expect(known).toContain(state.publicReason);
    }
  });

  if (strange)
    guarantee('24: treats an unknown state as work in progress', async () => {
      const { running, upstream, vendor } = connected();
      const { operation, call } = await running(body);
      strange(vendor.protocol);
      expect(await upstream.check(operation, call)).toEqual({ state: 'pending' });
    });
}

function questionsContract<Protocol extends Protocols>(
  { order: body }: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  guarantee('26: answers the same when it is asked again, by any process', async () => {
    const { running, upstream, other } = connected();
    const { operation, call } = await running(body);
    const first = await upstream.check(operation, call);
    expect(await other().check(operation, call)).toEqual(first);
  });

  guarantee('25: ends work that the vendor does not know, but not when it was only just taken', async () => {
    const { running, upstream } = connected();
    const { operation, call } = await running(body);
    const nobodys = unknown(operation);
    if (operation['takenAtMs'] !== undefined) expect(await upstream.check(nobodys, call)).toEqual({ state: 'pending' });
    const state = await upstream.check(old(nobodys), call);
    expect(state).toMatchObject({ state: 'failed', publicReason: MEDIA_REASONS.work_lost.publicReason });
  });

  guarantee('25: leaves work that it does not know to its deadline when it was taken under another key', async () => {
    const { running, upstream, other, vendor } = connected();
    const { operation, call } = await running(body);
    const { key } = vendor.protocol;
    const nobodys = old(unknown(operation));
    const before = other({ key: `${key}-before` });
    // What the account before took, as the row has it.
    const taken = { ...nobodys, access: before.access };
    expect(await upstream.check(taken, call)).toEqual({ state: 'pending' });
    expect(await upstream.check({ ...nobodys, access: upstream.access }, call)).toMatchObject({ state: 'failed' });
    await expect(upstream.refresh(taken, call)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  guarantee.each<Fault>(['garbage', 'html', 'huge', 'cut-early', { status: 500, body: {} }, { status: 401, body: {} }])(
    '15: leaves work alone when a check is answered with %j',
    async (fault) => {
      const { running, upstream, vendor } = connected();
      const { operation, call } = await running(body);
      vendor.next(fault);
      const failure: unknown = await upstream.check(operation, call).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(MediaFailure);
      expect(['unavailable', 'busy', 'unfit']).toContain((failure as MediaFailure).kind);
    },
  );

  guarantee('17: is busy when checks are too many', async () => {
    const { running, upstream, vendor } = connected();
    const { operation, call } = await running(body);
    vendor.next({ status: 429, headers: { 'retry-after': '7' }, body: {} });
    await expect(upstream.check(operation, call)).rejects.toMatchObject({ kind: 'busy', retryAfterMs: 7_000 });
  });
}

function verbsContract<Protocol extends Protocols>(
  { order: body, stoppable, reportedCost, codec }: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  guarantee('34: has new links for finished work', async () => {
    const { running, upstream } = connected();
    const { operation, call } = await running(body);
    const state = await upstream.check(operation, call);
    expect(await upstream.refresh(operation, call)).toEqual(state.state === 'succeeded' ? state.outputs : []);
  });

  if (codec.writeCancel && stoppable)
    guarantee(
      '36: stops work that can be stopped, says when it is too late, and throws when it cannot tell',
      async () => {
        const { running, upstream, vendor } = connected();
        const { operation, call } = await running(body);
        expect(await upstream.cancel?.(operation, call)).toBe('too_late');
        stoppable(vendor.protocol);
        expect(await upstream.cancel?.(operation, call)).toBe('cancelled');
        vendor.next({ status: 503, body: {} });
        await expect(upstream.cancel?.(operation, call)).rejects.toBeInstanceOf(MediaFailure);
      },
    );

  if (reportedCost)
    guarantee('40: notes what the vendor says that it cost', async () => {
      const { running, upstream } = connected();
      const { operation, call } = await running(body);
      await upstream.check(operation, call);
      expect(call.noted()).toMatchObject({ cost: reportedCost });
    });
}

/** The operation of work that the vendor has had for longer than it needs to register it. */
const old = (operation: Operation): Operation => ({ ...operation, takenAtMs: Date.now() - 61_000 });

/** An operation of the same shape that the vendor never gave. */
const unknown = (operation: Operation): Operation =>
  Object.fromEntries(
    Object.entries(operation).map(([name, value]) => [
      name,
      typeof value === 'string' && name !== 'access' ? value.replaceAll(/\d/g, '9') : value,
    ]),
  );
