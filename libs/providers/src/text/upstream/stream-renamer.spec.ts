import { streamRenamer } from './stream-renamer.js';

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
    const events = Buffer.from(`data: {"text":"\\"model\\":\\"up\\"","a_model":"up","args":{"model":"up-2"}}\n\n`);
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

  const DATED = 'up-2026-11-01';
  it.each([
    ['chat', { object: 'chat.completion.chunk', model: DATED, choices: [] }],
    ['responses', { type: 'response.created', response: { instructions: 'x'.repeat(9_000), model: DATED } }],
    ['messages', { type: 'message_start', message: { id: 'msg_1', model: DATED } }],
    ['gemini', { candidates: [], modelVersion: DATED }],
  ])('shows it in place of the dated name with which the vendor answers, from its first event on: %s', (_, event) => {
    const rename = streamRenamer({ model: 'known', upstreamModel: 'up' });
    const sent = (body: object, name: string): string =>
      `data: ${JSON.stringify(body)}\n\n`.replaceAll(JSON.stringify(DATED), JSON.stringify(name));
    for (const body of [event, event])
      expect(rename(Buffer.from(sent(body, DATED))).toString()).toBe(sent(body, 'known'));
    const shortly = `data: {"model":"up","x":1}\n\n`;
    expect(rename(Buffer.from(shortly)).toString()).toBe(shortly.replace('"up"', '"known"'));
  });

  it('learns no name from what a model wrote, or from events that are none', () => {
    const rename = streamRenamer({ model: 'known', upstreamModel: 'up' });
    const args = { candidates: [{ content: { parts: [{ functionCall: { args: { model: 'mine' } } }] } }] };
    for (const sent of [
      `data: ${JSON.stringify(args)}\n\n`,
      'data: {"model":\n\n',
      'data: {"model":""}\n\n',
      'data: [1]\n\n',
    ]) {
      const bytes = Buffer.from(sent);
      expect(rename(bytes)).toBe(bytes);
    }
    expect(rename(Buffer.from('data: {"model":"up-2","a":{"model":"mine"}}\n\n')).toString()).toBe(
      'data: {"model":"known","a":{"model":"mine"}}\n\n',
    );
  });
});
