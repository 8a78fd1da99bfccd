import { setImmediate as turn } from 'node:timers/promises';
import { PassThrough } from 'node:stream';
import { BodyReader, type BodyTaker } from './body-reader.js';

const asText = (bytes: Buffer): string => bytes.toString();

/** Makes a piece of every run of bytes, and says at which calls. */
const taker = (given: Partial<BodyTaker<string>> = {}): BodyTaker<string> => ({
  take: asText,
  rest: () => 'rest',
  end: () => 'end',
  ...given,
});

const reader = (body: PassThrough, given?: Partial<BodyTaker<string>>): BodyReader<string> =>
  new BodyReader(body, taker(given), (error) => new Error('broken', { cause: error }));

const rest = async (pieces: AsyncIterable<string>): Promise<string[]> => {
  const found: string[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
};

describe('A reader of bodies', () => {
  it('returns pieces as they arrive, then what was held back, then the last piece', async () => {
    const body = new PassThrough();
    const pieces = reader(body);
    body.write('one');
    expect(await pieces.next()).toEqual({ done: false, value: 'one' });
    const waiting = pieces.next();
    await turn();
    body.write('two');
    expect(await waiting).toEqual({ done: false, value: 'two' });
    body.end();
    expect(await rest(pieces)).toEqual(['rest', 'end']);
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
  });

  it('skips bytes that form no piece yet, and ends that form none', async () => {
    const body = new PassThrough();
    let held = '';
    const pieces = reader(body, {
      take: (bytes) => void (held += asText(bytes)),
      rest: () => held,
      end: () => undefined,
    });
    const all = rest(pieces);
    for (const part of ['a', 'b', 'c']) {
      body.write(part);
      await turn();
    }
    body.end();
    expect(await all).toEqual(['abc']);
  });

  it('reports the failure of the body after all data before it', async () => {
    const body = new PassThrough();
    const pieces = reader(body);
    body.write('one');
    expect(await pieces.next()).toEqual({ done: false, value: 'one' });
    body.destroy(new Error('cut'));
    await expect(pieces.next()).rejects.toMatchObject({ message: 'broken', cause: new Error('cut') });
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
  });

  it('reports a body that was closed before its end, also to a waiting reader', async () => {
    const body = new PassThrough();
    const waiting = reader(body).next();
    await turn();
    body.destroy();
    await expect(waiting).rejects.toThrow('broken');
  });

  it.each(['take', 'rest', 'end'] as const)('throws what %s throws, and reads no further', async (step) => {
    const body = new PassThrough();
    const pieces = reader(body, {
      [step]: () => {
        throw new Error(`${step} failed`);
      },
    });
    body.end('one');
    await expect(rest(pieces)).rejects.toThrow(`${step} failed`);
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
  });

  it('closes the body when its reader leaves early', async () => {
    const body = new PassThrough();
    body.write('one');
    for await (const piece of reader(body)) {
      expect(piece).toBe('one');
      break;
    }
    expect(body.destroyed).toBe(true);
  });

  it('reads no faster than it is asked', async () => {
    const body = new PassThrough({ highWaterMark: 4 });
    const pieces = reader(body);
    expect(body.write('12345')).toBe(false);
    await turn();
    expect(body.readableLength).toBe(5);
    expect(await pieces.next()).toEqual({ done: false, value: '12345' });
  });
});
