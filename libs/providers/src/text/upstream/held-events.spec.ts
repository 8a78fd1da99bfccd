import { randomBytes } from 'node:crypto';
import { HeldEvents } from './relay-tap.js';

const KIBIBYTE = 1024;
const event = (index: number, text = 'word'): Buffer => Buffer.from(`data: {"index":${index},"delta":"${text}"}\n\n`);

/** Holds these events; `read` tells what was read of them, and in how many pieces. */
function held(events: readonly Buffer[]) {
  const read: Buffer[] = [];
  const kept = new HeldEvents((piece) => read.push(piece));
  for (const each of events) kept.hold(each);
  return { kept, read };
}

describe('Events that are held', () => {
  it('are not read while they are few', () => {
    expect(held(Array.from({ length: 10_000 }, (_, index) => event(index))).read).toEqual([]);
  });

  it.each([
    ['few', Array.from({ length: 3 }, (_, index) => event(index))],
    ['many', Array.from({ length: 40_000 }, (_, index) => event(index))],
    ['those that cannot be packed', Array.from({ length: 60 }, (_, index) => event(index, noise(10 * KIBIBYTE)))],
    ['a large one among small ones', [event(1), event(2), event(3, noise(500 * KIBIBYTE)), event(4)]],
  ])('are read once each and in their order: %s', (_, events) => {
    const { kept, read } = held(events);
    kept.readAll();
    expect(Buffer.concat(read).equals(Buffer.concat(events))).toBe(true);
    kept.readAll();
    expect(Buffer.concat(read)).toHaveLength(Buffer.concat(events).length);
  });

  it('are read when they would take much memory, a block at a time', () => {
    const { read } = held(Array.from({ length: 200 }, (_, index) => event(index, noise(10 * KIBIBYTE))));
    expect(read.length).toBeGreaterThan(10);
    expect(Math.max(...read.map(({ length }) => length))).toBeLessThan(128 * KIBIBYTE);
  });
});

function noise(bytes: number): string {
  return randomBytes(bytes / 2).toString('hex');
}
