import { type ConnectedFake, connectFake } from './connected-fake.js';
import type { ContractCase } from './contract-case.js';
import { checkingContract } from './contract-checking.js';
import { linesContract } from './contract-lines.js';
import { planningContract } from './contract-planning.js';
import { startingContract } from './contract-starting.js';
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
    if (contract.codec.traits.style === 'task') checkingContract(contract, () => connected);
  });
}
