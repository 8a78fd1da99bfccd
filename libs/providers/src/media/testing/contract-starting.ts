import { MEDIA_REASONS } from '#contracts';
import { failedStart } from './contract-lines.js';
import type { ConnectedFake } from './connected-fake.js';
import type { FakeProtocol } from './fake-vendor.js';
import { type ContractCase, ENVELOPES, guarantee } from './contract-case.js';
import { COPY, FILE_BYTES, testCall } from './test-call.js';
import { orderOfBody } from './sample-requests.js';

type Protocols = FakeProtocol & { readonly taken: readonly unknown[] };

/** Cases 7, 8, 17 to 21, 37, 38: what starts, and what is refused. */
export function startingContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const { codec, withFiles } = contract;
  refusalsContract(contract, connected);
  guarantee('8: hands over what survives JSON, is small and holds no key and no file', async () => {
    const { start, prepare, vendor } = connected();
    const { started } = await start(withFiles);
    const kept = [prepare(withFiles).call.ticket, started.kind === 'operation' ? started.operation : null];
    const json = JSON.stringify(kept);
    expect(JSON.parse(json)).toEqual(kept);
    expect(json.length).toBeLessThan(4_096);
    expect(json).not.toMatch(/data:|signature=/);
    expect(json).not.toContain(vendor.protocol.key);
  });

  guarantee.each(ENVELOPES)('7: knows what was taken from a reply that a reseller wraps %s', async (_, wrapped) => {
    const { start, vendor } = connected();
    const place = (said: string): string => said.replaceAll(/[0-9a-f-]{8,}|\d+/g, '1');
    const { started } = await start(contract.order);
    vendor.wrapped = wrapped;
    expect(place(JSON.stringify((await start(contract.order)).started))).toBe(place(JSON.stringify(started)));
  });

  guarantee('37: gives the vendor every file that the order refers to', async () => {
    const { start, vendor } = connected();
    await start(withFiles);
    const sent = JSON.stringify(vendor.requests[0]?.body);
    const { references } = orderOfBody(withFiles);
    expect(references.length).toBeGreaterThan(0);
    const isInline = (reference: (typeof references)[number]) =>
      ['base64', 'inline'].includes(codec.referenceForm(reference, undefined));
    for (const { source } of references.filter((reference) => !isInline(reference))) expect(sent).toContain(source);
    expect(sent.split(FILE_BYTES.toString('base64')).length - 1).toBe(references.filter(isInline).length);
  });

  guarantee('38: turns an inline file into what the vendor takes, or refuses it before any call', async () => {
    const inline = 'data:image/png;base64,ZmlsZQ==';
    const { upstream, vendor, other } = connected();
    const order = orderOfBody(withFiles);
    const first = order.references[0];
    if (!first) throw new Error('withFiles refers to no file');
    const references = [{ ...first, source: inline }, ...order.references.slice(1)];
    const changed = { ...order, references };
    const plan = upstream.plan(changed);
    if (!('cannot' in plan)) {
      if (codec.referenceForm(first, undefined) === 'source') return;
      await upstream.start(changed, testCall(changed, plan.ticket));
      const sent = JSON.stringify(vendor.requests[0]?.body);
      expect(sent.includes(inline) || sent.includes('ZmlsZQ==') || sent.includes(COPY)).toBe(true);
    }
    const unlinked = other({ canLink: false }).plan(changed);
    if ('cannot' in unlinked) expect(unlinked.param).toBe(first.param);
  });
}

function refusalsContract<Protocol extends Protocols>(
  { codec, order: body, refusals }: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  if (codec.traits.style === 'task')
    guarantee('8: hands over the name that the vendor gave the work, another for each order', async () => {
      const { upstream, running } = connected();
      const names = [];
      for (let order = 0; order < 3; order += 1) names.push(upstream.nameOf((await running(body)).operation));
      expect(names).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
      expect(new Set(names).size).toBe(3);
    });

  if (codec.traits.repeatStart === 'idempotent')
    guarantee('45: is taken once, though two processes send it', async () => {
      const { upstream, other, prepare, vendor } = connected();
      const { order, call } = prepare(body);
      const before = vendor.protocol.taken.length;
      const [first, second] = await Promise.all([upstream.start(order, call), other().start(order, call)]);
      expect(second).toEqual(first);
      expect(vendor.protocol.taken.length).toBe(before + 1);
    });

  if (codec.traits.repeatStart === 'lookup')
    guarantee(
      '7: finds in another process, by the ticket alone, what was taken, and says when there is nothing',
      async () => {
        const { other, prepare, upstream } = connected();
        const { order, call } = prepare(body);
        expect(await other().find?.(call)).toBeNull();
        const started = await upstream.start(order, call);
        const ticket = JSON.parse(JSON.stringify(call.ticket)) as typeof call.ticket;
        // The time it was taken is known only to the process that ordered it.
        const { takenAtMs: _taken, ...operation } = started.kind === 'operation' ? started.operation : {};
        expect(await other().find?.({ ...call, ticket })).toEqual({ kind: 'operation', operation });
      },
    );

  guarantee.each(refusals)('17-21: sorts %s', async (_, reply, expected) => {
    const failure = await failedStart(connected(), body, reply);
    expect(failure).toMatchObject(expected);
  });

  guarantee("23: never tells a client the vendor's words", async () => {
    const known: readonly string[] = Object.values(MEDIA_REASONS).map(({ publicReason }) => publicReason);
    for (const [, reply] of refusals) {
      const { publicReason } = await failedStart(connected(), body, reply);
      expect(known.some((sentence) => publicReason.endsWith(sentence))).toBe(true);
    }
  });
}
