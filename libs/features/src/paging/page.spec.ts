import { fromCursor, toCursor } from './page.js';

const at = (time: string): string => toCursor({ time, id: 'x' });

describe('A cursor', () => {
  it.each(['2026-11-28T23:59:59.999999Z', '2028-02-29T00:00:00.000000Z', '0001-01-01T00:00:00.000000Z'])(
    'says where a list continues, to the microsecond: %s',
    (time) => {
      expect(fromCursor(at(time))).toEqual({ time, id: 'x' });
    },
  );

  it.each([
    '0000-01-01T00:00:00.000000Z',
    '2026-02-29T00:00:00.000000Z',
    '2026-00-10T00:00:00.000000Z',
    '2026-13-45T99:99:99.999999Z',
    '2026-11-28T24:00:00.000000Z',
    '2026-11-28T23:59:60.000000Z',
  ])('of a time that the database does not know is none of ours: %s', (time) => {
    expect(() => fromCursor(at(time))).toThrow(/cursor must be the next_cursor/);
  });
});
