import { readFileSync } from 'node:fs';
import { type ConnectedFake, connectFake } from './connected-fake.js';
import { callingContract } from './contract-calling.js';
import { type ContractCase, guarantee, takeTested } from './contract-case.js';
import { type AnyCase, CASES, explained } from './contract-cases.js';
import { checkingContract } from './contract-checking.js';
import { hostileContract } from './contract-hostile.js';
import { linesContract } from './contract-lines.js';
import { planningContract } from './contract-planning.js';
import { startingContract } from './contract-starting.js';
import { unusualContract } from './contract-unusual.js';
import type { FakeProtocol } from './fake-vendor.js';

/** The guarantees of every protocol: call it once in each `<protocol>.spec.ts`. Needs well under 3 s. */
export function mediaUpstreamContract<Protocol extends FakeProtocol & { readonly taken: readonly unknown[] }>(
  contract: ContractCase<Protocol>,
): void {
  describe(`${contract.codec.protocol} keeps the contract of media upstreams`, () => {
    let connected: ConnectedFake<Protocol>;
    beforeAll(async () => {
      connected = await connectFake(contract.codec, contract.fake);
    });
    afterEach(() => connected.vendor.reset());
    afterAll(() => connected.close());

    planningContract(contract, () => connected);
    linesContract(contract, () => connected);
    startingContract(contract, () => connected);
    callingContract(contract, () => connected);
    hostileContract(contract, () => connected);
    unusualContract(contract, () => connected);
    if (contract.codec.traits.style === 'task') checkingContract(contract, () => connected);
    judgedContract(contract);

    const [tested, reasons] = [takeTested(), explained(contract as unknown as AnyCase)];
    it('has a test of every case, or says why there can be none', () => {
      const open = Object.entries(CASES).filter(
        ([number]) => !tested.has(Number(number)) && !reasons.has(Number(number)),
      );
      expect(open).toEqual([]);
    });
  });
}

const FOLDER = 'libs/providers/src/media/testing';

/** A third-party client library is run against the fake, and its requests are compared with ours. */
function judgedContract<Protocol extends FakeProtocol & { readonly taken: readonly unknown[] }>({
  judge,
  fake,
}: ContractCase<Protocol>): void {
  if (typeof judge !== 'string') return;
  guarantee('46-47: has its fake judged by a client library', () => {
    const spec = readFileSync(`${FOLDER}/${judge}`, 'utf8');
    const name = fake().constructor.name;
    for (const part of [`new ${name}(`, `mutated(new ${name}(`, "'46: ", "'47: "]) expect(spec).toContain(part);
  });
}
