import {
  isJsonObject,
  type JsonValue,
  MEDIA_REASONS,
  type MediaFailure,
  type Started,
  type Verified,
} from '#contracts';
import type { VendorReply } from '../http/media-codec.js';
import type { ConnectedFake } from './connected-fake.js';
import { type ContractCase, guarantee } from './contract-case.js';
import { answering, genuine } from './contract-hostile.js';
import type { FakeProtocol } from './fake-vendor.js';

type Protocols = FakeProtocol & { readonly taken: readonly unknown[] };

/** What vendors may do within their own rules, and what proxies before them do to their replies. */
export function unusualContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  refusalsContract(contract, connected);
  if (contract.codec.traits.style === 'task') {
    workContract(contract, connected);
    costContract(contract, connected);
    endContract(contract, connected);
  }

  guarantee.each([201, 202])('15: reads an answer of status %i as it reads 200', async (status) => {
    const { replies, operation } = await genuine(contract, connected());
    const { order, call } = connected().prepare(contract.order);
    const accepted = answering(connected(), ...replies.map((reply) => ({ ...reply, status })));
    const started = await accepted.start(order, call);
    expect(started.kind).toBe(contract.codec.traits.style === 'task' ? 'operation' : 'finished');
    if (started.kind === 'operation')
      expect(await accepted.check(operation, call)).toEqual(
        await answering(connected(), ...replies.slice(1)).check(operation, call),
      );
  });

  guarantee.each([204, 303])(
    '15: does not know after an answer of status %i whether the order was taken',
    async (status) => {
      const { order, call } = connected().prepare(contract.order);
      const empty = answering(connected(), { status, headers: { location: '/elsewhere' }, body: undefined });
      await expect(empty.start(order, call)).rejects.toMatchObject({ kind: 'ambiguous' });
    },
  );

  guarantee.each([301, 302, 304, 307, 308])(
    '11: knows after an answer of status %i that nothing was taken, so that another upstream may be asked',
    async (status) => {
      const { order, call } = connected().prepare(contract.order);
      const elsewhere = answering(connected(), { status, headers: { location: '/elsewhere' }, body: undefined });
      await expect(elsewhere.start(order, call)).rejects.toMatchObject({ kind: 'unfit' });
    },
  );
  proofsContract(contract, connected);
}

/** Case 41: what the free call takes for no proof of the key. */
function proofsContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const verified = (status: number, body: JsonValue): Promise<Verified> => {
    const { call } = connected().prepare(contract.order);
    return answering(connected(), { status, headers: {}, body }).verify(call);
  };

  guarantee(
    '41: takes no refusal of the key, the balance or the rate for a proof, whatever status it has',
    async () => {
      for (const [what, fault, expected] of contract.refusals) {
        const isOfAccount = expected.kind === 'busy' || ['not_paid', 'wrong_key'].includes(expected.reason ?? '');
        if (typeof fault === 'string' || !isOfAccount) continue;
        for (const status of [fault.status ?? 200, 200])
          expect([what, status, (await verified(status, fault.body)).ok]).toEqual([what, status, false]);
      }
    },
  );

  guarantee.each<[status: number, body: JsonValue]>([
    [200, { error: { code: 'StrangeWord', message: 'x' } }],
    [400, { message: 'x' }],
    [404, { error: 'not found' }],
    [422, { message: 'x' }],
  ])('41: takes an answer of %i %j for one of another service', async (status, body) => {
    expect(await verified(status, body)).toMatchObject({ ok: false, problem: 'not_this_protocol' });
  });
}

function refusalsContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  guarantee('17: waits until the date in Retry-After, by the clock of the vendor', async () => {
    const { order, call } = connected().prepare(contract.order);
    const itsNowMs = Date.now() + 3_600_000;
    const headers = {
      date: new Date(itsNowMs).toUTCString(),
      'retry-after': new Date(itsNowMs + 30_000).toUTCString(),
    };
    const busy = answering(connected(), { status: 429, headers, body: {} });
    await expect(busy.start(order, call)).rejects.toMatchObject({ kind: 'busy', retryAfterMs: 30_000 });
  });

  guarantee.each([
    [405, { kind: 'unfit', reason: 'not_served' }],
    [408, { kind: 'ambiguous', reason: 'unanswered' }],
    [410, { kind: 'unfit', reason: 'not_served' }],
    [425, { kind: 'unavailable', reason: 'away' }],
    [451, { kind: 'unfit', reason: 'not_served' }],
  ])('16: blames no order of a caller for an answer of status %i', async (status, expected) => {
    const { order, call } = connected().prepare(contract.order);
    const upstream = answering(connected(), { status, headers: {}, body: undefined });
    await expect(upstream.start(order, call)).rejects.toMatchObject(expected);
  });

  guarantee('20: takes no refusal for an order though it comes with status 200', async () => {
    for (const [what, fault, expected] of contract.refusals) {
      if (typeof fault === 'string' || !isJsonObject(fault.body)) continue;
      const { order, call } = connected().prepare(contract.order);
      const reply = { status: 200, headers: {}, body: fault.body };
      const outcome: unknown = await answering(connected(), reply)
        .start(order, call)
        .catch((error: unknown) => error);
      expect([what, expected.kind, 'ambiguous']).toContain((outcome as MediaFailure).kind);
    }
  });
}

function endContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const { codec } = contract;
  guarantee('25: ends work that is gone for good, but not when it was only just taken', async () => {
    const { operation } = await genuine(contract, connected());
    const { call } = connected().prepare(contract.order);
    const gone = answering(connected(), { status: 410, headers: {}, body: {} });
    if (operation['takenAtMs'] !== undefined) expect(await gone.check(operation, call)).toEqual({ state: 'pending' });
    const state = await gone.check({ ...operation, takenAtMs: 1 }, call).catch((error: unknown) => error);
    expect(state).toMatchObject({ state: 'failed', publicReason: MEDIA_REASONS.work_lost.publicReason });
  });

  if (codec.writeCancel)
    guarantee('36: never asks a vendor to stop work that has ended, where that would remove it', async () => {
      const { running, upstream, vendor } = connected();
      const { operation, call } = await running(contract.order);
      const before = await upstream.check(operation, call);
      expect(await upstream.cancel?.(operation, call)).toBe('too_late');
      expect(await upstream.check(operation, call)).toEqual(before);
      expect(vendor.requests.length).toBeGreaterThan(0);
    });
}

function workContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const { codec } = contract;
  guarantee('24: reads the words for states in capitals, in small letters and between blanks', async () => {
    const { replies, operation } = await genuine(contract, connected());
    const checks = replies.slice(1);
    const { call } = connected().prepare(contract.order);
    const expected = await answering(connected(), ...checks).check(operation, call);
    for (const change of [upperCase, lowerCase, (word: string) => ` ${word}\n`]) {
      const written = checks.map((reply) => ({ ...reply, body: withStates(reply.body, change) }));
      expect(await answering(connected(), ...written).check(operation, call)).toEqual(expected);
    }
  });

  guarantee('30: fails work that is done without a link', async () => {
    const { replies, operation } = await genuine(contract, connected());
    const { call } = connected().prepare(contract.order);
    for (const nothing of ['', null, []]) {
      const checks = replies.slice(1).map((reply) => ({ ...reply, body: withLinks(reply.body, nothing) }));
      const state = await answering(connected(), ...checks).check(operation, call);
      expect(state).toMatchObject({ state: 'failed' });
    }
  });

  guarantee('44: asks by an id that has slashes, dots and marks under nothing else', async () => {
    const { replies, operation } = await genuine(contract, connected());
    const [start] = replies as [VendorReply];
    const name = connected().upstream.nameOf(operation) ?? '';
    for (const id of ['a/../b?c=d#e', '..', '.']) {
      const { order, call } = connected().prepare(contract.order);
      const body = withText(start.body, name, id);
      const upstream = answering(connected(), { ...start, body }, { status: 404, headers: {}, body: {} });
      const started: Started | undefined = await upstream.start(order, call).catch(() => undefined);
      if (started?.kind !== 'operation' || upstream.nameOf?.(started.operation) !== id) continue;
      await upstream.check(started.operation, call).catch(() => undefined);
      expect(JSON.stringify(upstream.received.at(-1))).toContain(encodeURIComponent(id));
      expect(id).not.toMatch(/^\.+$/);
    }
  });

  if (codec.writeCancel && codec.protocol !== 'gateway')
    guarantee('36: takes every answer of 2xx to a wish to stop for a yes', async () => {
      const { operation } = await genuine(contract, connected());
      const { call } = connected().prepare(contract.order);
      for (const status of [200, 202, 204]) {
        const reply = { status, headers: {}, body: undefined };
        const upstream = answering(connected(), ...(contract.waiting ? [contract.waiting] : []), reply);
        expect(await upstream.cancel?.(operation, call)).toBe('cancelled');
      }
    });
}

const upperCase = (word: string): string => word.toUpperCase();
const lowerCase = (word: string): string => word.toLowerCase();

/** Case 40: how a cost is written. */
function costContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  if (contract.reportedCost)
    guarantee('40: reads what an order cost from a number and from a text alike', async () => {
      const { replies, operation } = await genuine(contract, connected());
      const { call } = connected().prepare(contract.order);
      const otherwise = replies.slice(1).map((reply) => ({ ...reply, body: changed(reply.body, numbersAsTexts) }));
      await answering(connected(), ...otherwise).check(operation, call);
      expect(call.noted().cost).toMatchObject(contract.reportedCost ?? {});
    });
}

/** Numbers as texts, and the decimals of texts as numbers; amounts of our own API are texts. */
function numbersAsTexts(value: JsonValue, name: string): JsonValue {
  if (typeof value === 'number') return String(value);
  const isDecimal = name !== 'amount' && typeof value === 'string' && /^\d{1,9}\.\d+$/.test(value);
  return isDecimal ? Number(value) : value;
}

const STATES = new Set(['status', 'state', 'task_status']);

const changed = (body: JsonValue | undefined, change: (value: JsonValue, name: string) => JsonValue): JsonValue =>
  JSON.parse(JSON.stringify(body), (name, value: JsonValue) => change(value, name)) as JsonValue;

const withStates = (body: JsonValue | undefined, change: (word: string) => string): JsonValue =>
  changed(body, (value, name) => (STATES.has(name) && typeof value === 'string' ? change(value) : value));

/** Files are links, links to buckets, or bytes that were put aside. */
const withLinks = (body: JsonValue | undefined, link: JsonValue): JsonValue =>
  changed(body, (value) => (typeof value === 'string' && /^(?:https?|gs|kept):/.test(value) ? link : value));

const withText = (body: JsonValue | undefined, text: string, other: string): JsonValue =>
  changed(body, (value) => (value === text ? other : value));
