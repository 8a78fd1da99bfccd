import fc from 'fast-check';
import { eventData, EventSplitter } from './server-sent-events.js';

const EVENTS = [
  'event: a\ndata: {"x":"é猫😀"}\n\n',
  'data: one\ndata: two\n\n',
  ': a comment\n\n',
  'data: {"y":1}\r\n\r\n',
  'data:[DONE]\n\n',
];

describe('EventSplitter', () => {
  it('gives back every byte in order and cuts only where events end, however the network cuts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...EVENTS), { maxLength: 8 }),
        fc.array(fc.nat(40), { minLength: 1 }),
        (events, sizes) => {
          const whole = Buffer.from(events.join(''));
          const splitter = new EventSplitter();
          const pieces: string[] = [];
          for (let at = 0, turn = 0; at < whole.length; turn += 1) {
            const size = (sizes[turn % sizes.length] ?? 0) + 1;
            const piece = splitter.push(whole.subarray(at, at + size)).toString('utf8');
            if (piece !== '') pieces.push(piece);
            at += size;
          }
          expect(pieces.join('') + splitter.rest().toString('utf8')).toBe(whole.toString('utf8'));
          for (const piece of pieces) expect(piece).toMatch(/\n\r?\n$/);
        },
      ),
    );
  });

  it('refuses an event that outgrows every sensible size', () => {
    const splitter = new EventSplitter();
    const block = Buffer.alloc(8 * 1024 * 1024, 'x');
    expect(() => {
      for (let blocks = 0; blocks < 8; blocks += 1) splitter.push(block);
    }).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });
});

describe('Lines that end with a carriage return alone', () => {
  it('end events too', () => {
    const splitter = new EventSplitter();
    const sent = 'event: a\rdata: {"x":1}\r\rdata: {"y":1}\r\r';
    const pieces = [sent.slice(0, 24), sent.slice(24)].map((piece) => splitter.push(Buffer.from(piece)));
    expect(pieces.map(String)).toEqual(['event: a\rdata: {"x":1}\r\r', 'data: {"y":1}\r\r']);
    expect(pieces.flatMap((piece) => eventData(String(piece)))).toEqual(['{"x":1}', '{"y":1}']);
  });
});

describe('eventData', () => {
  it('joins data lines, drops comments and names, and takes one space off', () => {
    expect(eventData(EVENTS.join(''))).toEqual(['{"x":"é猫😀"}', 'one\ntwo', '{"y":1}', '[DONE]']);
  });

  it('passes over the mark of the byte order that a stream may begin with', () => {
    expect(eventData('\uFEFFdata: {"x":1}\n\ndata: {"y":1}\n\n')).toEqual(['{"x":1}', '{"y":1}']);
  });
});
