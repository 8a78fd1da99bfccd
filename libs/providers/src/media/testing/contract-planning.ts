import { isDone } from '../http/media-codec.js';
import { fieldEffects, written } from './field-effects.js';
import type { ConnectedFake } from './connected-fake.js';
import type { FakeProtocol } from './fake-vendor.js';
import { type ContractCase, guarantee } from './contract-case.js';
import { accepted, catalogFamily, orderOf, orderOfBody, sampleRequests } from './sample-requests.js';

type Protocols = FakeProtocol & { readonly taken: readonly unknown[] };

/** Cases 1 to 6: what an upstream says of itself and of orders, before any call. */
export function planningContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const { codec, lacks, order: body } = contract;
  fieldsContract(contract, connected);
  guarantee('1: has the configured id and vendor account', () => {
    expect(connected().upstream).toMatchObject({
      id: 'vendor-1',
      vendorAccount: 'account-1',
      protocol: codec.protocol,
    });
  });

  guarantee('2: plans the same each time, without asking the vendor', () => {
    const { upstream, vendor } = connected();
    const order = orderOfBody(body);
    expect(upstream.plan(order)).toEqual(upstream.plan(order));
    expect(vendor.requests).toEqual([]);
  });

  if (lacks.length > 0)
    guarantee.each(lacks)('2: refuses %s, naming the field', (_, lacking, param) => {
      expect(connected().upstream.plan(orderOfBody(lacking))).toEqual({ cannot: expect.stringMatching(/\S/), param });
    });

  guarantee('2: refuses a model that the entry does not name', () => {
    const upstream = connected().other({ models: new Map() });
    expect(upstream.plan(orderOfBody(body))).toEqual({ cannot: expect.any(String), param: 'model' });
  });
}

function fieldsContract<Protocol extends Protocols>(
  { codec }: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  const models = [...codec.models.keys()];

  guarantee.each(models)(
    '3: makes the example of %s and each of its modes, or names the field that it lacks',
    (model) => {
      const { upstream } = connected();
      const family = catalogFamily(model);
      const example = accepted(family, { ...family.example, model });
      const requests = [...(example ? [example] : []), ...sampleRequests(model)];
      const cannot = requests
        .map((request) => orderOf(request))
        .map((order) => upstream.plan(order))
        .filter((plan) => 'cannot' in plan);
      expect(cannot.filter(({ param }) => param === undefined)).toEqual([]);
      expect(sampleRequests(model).length).toBeGreaterThan(20);
    },
  );

  guarantee.each(models)('4: sends every field of %s or refuses it by name', (model) => {
    const lost = [...fieldEffects(codec, model)].filter(([, { sent, refused }]) => !sent && refused.length === 0);
    expect(lost.map(([name]) => name)).toEqual([]);
  });

  guarantee.each(models)('6: sends nothing for %s that the vendor does not know', async (model) => {
    const { upstream, vendor } = connected();
    const problems = new Set<string>();
    for (const request of sampleRequests(model).slice(0, 60)) {
      const order = orderOf(request);
      if ('cannot' in upstream.plan(order)) continue;
      const sent = written(codec, request);
      if (!('body' in sent)) continue;
      const [path, posted] = JSON.parse(sent.body) as [string, Record<string, never>];
      const { name, value } = vendor.protocol.keyHeader;
      const reply = vendor.protocol.answer({
        method: 'POST',
        path,
        query: new URLSearchParams(),
        headers: { ...sent.headers, [name]: value, 'idempotency-key': order.taskId },
        body: posted,
      });
      if (!isDone(reply.status ?? 200)) problems.add(JSON.stringify(reply.body));
    }
    expect([...problems]).toEqual([]);
  });
}
