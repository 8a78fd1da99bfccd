import { eventually } from '#testing';
import { randomId, timeOrderedId } from './time-ordered-id.js';

describe('timeOrderedId', () => {
  it('has its prefix and 26 characters of the ULID alphabet', () => {
    expect(timeOrderedId('task')).toMatch(/^task_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  });

  it('sorts by time', async () => {
    const earlier = timeOrderedId('task');
    const madeAtMs = Date.now();
    await eventually(() => Date.now() > madeAtMs);
    expect(timeOrderedId('task') > earlier).toBe(true);
  });

  it('never repeats, also across pages of random bytes', () => {
    expect(new Set(Array.from({ length: 20_000 }, () => timeOrderedId('task'))).size).toBe(20_000);
  });

  it('uses every character of its alphabet at every random place', () => {
    const seen = Array.from({ length: 16 }, () => new Set<string>());
    for (let count = 0; count < 5_000; count += 1) {
      for (const [place, character] of timeOrderedId('x').slice(-16).split('').entries()) seen[place]?.add(character);
    }
    expect(seen.map(({ size }) => size)).toEqual(Array.from({ length: 16 }, () => 32));
  });
});

describe('randomId', () => {
  it('has its prefix and 24 hexadecimal digits', () => {
    expect(randomId('req')).toMatch(/^req_[0-9a-f]{24}$/);
  });
});
