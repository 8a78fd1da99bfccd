import { nextTurn } from './turns.js';

const ROUNDS = 5;

describe('Turns', () => {
  it('let one long task continue in each round of the event loop, in the order of their calls', async () => {
    const seen: string[] = [];
    let isOver = false;
    const round = (): void => {
      seen.push('round');
      if (!isOver) setImmediate(round);
    };
    const work = async (name: string): Promise<void> => {
      for (let step = 0; step < ROUNDS; step += 1) {
        await nextTurn();
        seen.push(name);
      }
    };
    setImmediate(round);
    await Promise.all(['a', 'b', 'c'].map(work));
    isOver = true;
    expect(seen.filter((name) => name !== 'round')).toEqual(
      Array.from({ length: ROUNDS }, () => ['a', 'b', 'c']).flat(),
    );
    const before = seen.flatMap((name, index) => (name === 'round' ? [] : [seen[index - 1]]));
    expect(new Set(before)).toEqual(new Set(['round']));
  });

  it('come at once to a single caller', async () => {
    const seen: string[] = [];
    const asked = nextTurn().then(() => seen.push('turn'));
    const rounds = new Promise<void>((resolve) => {
      setImmediate(() => setImmediate(() => resolve(void seen.push('second round'))));
    });
    await Promise.all([asked, rounds]);
    expect(seen).toEqual(['turn', 'second round']);
  });
});
