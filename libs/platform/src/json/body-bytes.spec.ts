import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { BodyBytes } from './body-bytes.js';

const MIB = 1024 * 1024;

describe('The bytes of a body', () => {
  it('are the received bytes, for any pieces and any announced length', async () => {
    const source = randomBytes(6 * MIB);
    const lengths = fc.array(fc.integer({ min: 1, max: 700_000 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 0, max: 6 * MIB }), async (pieces, announced) => {
        const body = new BodyBytes(announced);
        let sent = 0;
        for (const length of pieces) body.add(source.subarray(sent, (sent += length)));
        expect(body.length).toBe(sent);
        expect((await body.joined()).equals(source.subarray(0, sent))).toBe(true);
      }),
    );
  });

  it('are in one buffer of the announced length once an eighth of them came, so that joining copies nothing', async () => {
    const body = new BodyBytes(16 * MIB);
    for (let sent = 0; sent < 16 * MIB; sent += 64 * 1024) body.add(Buffer.alloc(64 * 1024, 'a'));
    const before = process.memoryUsage().arrayBuffers;
    const joined = await body.joined();
    expect([joined.length, joined.buffer.byteLength]).toEqual([16 * MIB, 16 * MIB]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB);
  });

  it('take the memory of the announced length and no more, where most of them came with the first piece', async () => {
    const allocated = jest.spyOn(Buffer, 'allocUnsafeSlow');
    const body = new BodyBytes(66_000);
    for (const length of [65_000, 1_000]) body.add(Buffer.alloc(length, 'a'));
    expect((await body.joined()).length).toBe(66_000);
    expect(allocated.mock.calls).toEqual([[66_000]]);
    allocated.mockRestore();
  });

  it('get no memory for bytes that are only announced', () => {
    const before = process.memoryUsage().arrayBuffers;
    const bodies = Array.from({ length: 20 }, () => new BodyBytes(64 * MIB));
    for (const body of bodies) for (let piece = 0; piece < 4; piece += 1) body.add(Buffer.alloc(64 * 1024, 'a'));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * MIB);
    expect(bodies).toHaveLength(20);
  });
});
