import { streamRenamer } from './http-text-provider.js';

const renamed = (model: string, upstreamModel: string, events: string): string =>
  streamRenamer({ model, upstreamModel })(Buffer.from(events)).toString('utf8');

describe('streamRenamer', () => {
  it.each([
    ['every event of a piece', 'data: {"model":"up"}\n\ndata: {"model":"up"}\n\n'],
    ['either field', 'data: {"modelVersion": "up", "model" :"up"}\n\n'],
    ['a line of its own', 'data: {"model":\n  "up"}\n\n'],
  ])('shows the known name in %s', (_, events) => {
    expect(renamed('known', 'up', events)).toBe(events.replaceAll('"up"', '"known"'));
  });

  it.each([
    ['cost$&$1$$', 'v.1+(x)[y]^'],
    ['模型 "é"', 'ü\\模'],
    ['x', '\u{1f600}'],
  ])('takes each name as it is written: %s for %s', (model, upstreamModel) => {
    const body = { model: upstreamModel, text: 'é 模 \u{1f600}' };
    expect(renamed(model, upstreamModel, JSON.stringify(body))).toBe(JSON.stringify({ ...body, model }));
  });

  it('leaves what only looks like the name as it is, byte for byte', () => {
    const events = Buffer.from(`data: {"text":"\\"model\\":\\"up\\"","a_model":"up","model":"up-2"}\n\n`);
    const bytes = Buffer.concat([events, Buffer.from([0xff, 0xfe, 0xe2, 0x82])]);
    expect(streamRenamer({ model: 'known', upstreamModel: 'up' })(bytes)).toBe(bytes);
    const named = Buffer.concat([bytes, Buffer.from('{"model":"up"}')]);
    expect(streamRenamer({ model: 'known', upstreamModel: 'up' })(named)).toEqual(
      Buffer.concat([bytes, Buffer.from('{"model":"known"}')]),
    );
  });

  it('gives back what came where both names are one', () => {
    const events = Buffer.from('data: {"model":"up"}\n\n');
    expect(streamRenamer({ model: 'up', upstreamModel: 'up' })(events)).toBe(events);
  });
});
