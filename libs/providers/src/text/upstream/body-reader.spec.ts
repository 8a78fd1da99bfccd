import { setImmediate as turn } from 'node:timers/promises';
import { ReplyBody } from '../../http/exchange.js';
import { BodyReader, type BodyTaker } from './body-reader.js';

const asText = (bytes: Buffer): string => bytes.toString();

/** Makes a piece of every run of bytes, and says at which calls. */
const taker = (given: Partial<BodyTaker<string>> = {}): BodyTaker<string> => ({
  take: asText,
  rest: () => 'rest',
  end: () => 'end',
  ...given,
});

/** A body, and what its source was told. */
class Body extends ReplyBody {
  readonly told: string[];

  constructor() {
    const told: string[] = [];
    super({ resume: () => told.push('resume'), close: () => told.push('close') });
    this.told = told;
  }

  /** Whether no more should come now. */
  write(text: string): boolean {
    return this.push(Buffer.from(text));
  }

  end(text?: string): void {
    if (text !== undefined) this.write(text);
    this.finish();
  }
}

const reader = (body: Body, given?: Partial<BodyTaker<string>>): BodyReader<string> =>
  new BodyReader(body, taker(given), (error) => new Error('broken', { cause: error }));

const rest = async (pieces: AsyncIterable<string>): Promise<string[]> => {
  const found: string[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
};

describe('A reader of bodies', () => {
  it('returns pieces as they arrive, then what was held back, then the last piece', async () => {
    const body = new Body();
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
    const body = new Body();
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
    const body = new Body();
    const pieces = reader(body);
    body.write('one');
    expect(await pieces.next()).toEqual({ done: false, value: 'one' });
    body.fail(new Error('cut'));
    await expect(pieces.next()).rejects.toMatchObject({ message: 'broken', cause: new Error('cut') });
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
  });

  it('reports the failure of the body to a waiting reader', async () => {
    const body = new Body();
    const waiting = reader(body).next();
    await turn();
    body.fail(new Error('cut'));
    await expect(waiting).rejects.toThrow('broken');
  });

  it('reads nothing that waits behind the end of its caller', async () => {
    const body = new Body();
    const pieces = reader(body);
    body.end('one');
    body.discard(new Error('left'));
    await expect(pieces.next()).rejects.toMatchObject({ cause: new Error('left') });
  });

  it.each(['take', 'rest', 'end'] as const)('throws what %s throws, and reads no further', async (step) => {
    const body = new Body();
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
    const body = new Body();
    body.write('one');
    for await (const piece of reader(body)) {
      expect(piece).toBe('one');
      break;
    }
    expect(body.told).toContain('close');
  });

  it('reads no faster than it is asked', async () => {
    const body = new Body();
    const pieces = reader(body);
    const half = 'x'.repeat(32 * 1024);
    expect(body.write(half)).toBe(false);
    expect(body.write(half)).toBe(true);
    await turn();
    expect(body.told).toEqual([]);
    expect(await pieces.next()).toEqual({ done: false, value: half + half });
    expect(body.told).toEqual(['resume']);
  });
});
