import { StreamBounds } from './stream-bounds.js';

const MIB = 1024 * 1024;

describe('The bounds of a stream', () => {
  it('let a vendor think for two hours behind a comment each second, and no longer', () => {
    let nowMs = 0;
    const bounds = new StreamBounds(() => nowMs);
    const comment = Buffer.from(': still thinking\n\n');
    const second = (): void => {
      nowMs += 1_000;
      bounds.count(comment);
      bounds.see(comment);
    };
    for (let seconds = 0; seconds < 7_200; seconds += 1) second();
    expect(second).toThrow(expect.objectContaining({ code: 'upstream_timeout' }));
  });

  it('let a stream say half a gigabyte, and no more', () => {
    const bounds = new StreamBounds();
    const event = Buffer.from(`data: {"x":"${'y'.repeat(MIB - 20)}"}\n\n`);
    const say = (): void => {
      bounds.count(event);
      bounds.see(event);
    };
    for (let times = 0; times < 512; times += 1) say();
    expect(say).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  it.each([': comment\n\n', 'data: {}\n\n', 'data:{}\r\n\r\n', '\n\n', 'data:\n\n', 'event: x\n\n'])(
    'let no more than a megabyte come that says nothing: %j',
    (nothing) => {
      const bounds = new StreamBounds();
      const piece = Buffer.from(nothing.repeat(1_000));
      expect(() => {
        for (let bytes = 0; bytes < MIB - piece.length; bytes += piece.length) bounds.see(piece);
      }).not.toThrow();
      expect(() => {
        for (let times = 0; times < 2; times += 1) bounds.see(piece);
      }).toThrow('sent much that says nothing');
    },
  );

  it('count what says nothing from the last event on that was looked at', () => {
    const bounds = new StreamBounds();
    const event = Buffer.from(`: ${'y'.repeat(100_000)}\n\ndata: {"x":1}\n\n`);
    expect(() => {
      for (let times = 0; times < 100; times += 1) bounds.see(event);
    }).not.toThrow();
  });

  it.each(['data: [DONE]\n\n', ': wait\n\ndata:[DONE]\r\n\r\n'])(
    'let no stream count as a reply that is over before it begins: %j',
    (end) => {
      expect(() => new StreamBounds().see(Buffer.from(end))).toThrow(
        expect.objectContaining({ code: 'upstream_error' }),
      );
      const bounds = new StreamBounds();
      bounds.see(Buffer.from('data: {"choices":[]}\n\n'));
      bounds.see(Buffer.from(end));
    },
  );
});
