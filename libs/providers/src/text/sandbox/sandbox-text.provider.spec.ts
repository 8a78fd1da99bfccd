import type { TextCall, TextEvent, TextRequest } from '#contracts';
import { PLAIN, RICH, SCHEMA } from '../testing/text-requests.js';
import { joined } from '../testing/decoded.js';
import { SandboxTextProvider } from './sandbox-text.provider.js';

const sandbox = new SandboxTextProvider(0);
const saying = (text: string): Pick<TextRequest, 'turns'> => ({
  turns: [{ role: 'user', parts: [{ type: 'text', text }] }],
});

async function pieces(change: Partial<TextRequest>, signal = new AbortController().signal, requestId = 'req_1') {
  const call: TextCall = {
    requestId,
    style: 'responses',
    stream: true,
    model: 'vendor-5',
    upstreamModel: 'vendor-5',
    request: () => ({ ...PLAIN, ...change }),
    native: () => ({ kind: 'rewritten', body: {} }),
    headers: {},
  };
  const reply = await sandbox.call(call, signal);
  const events: TextEvent[] = [];
  if (reply.kind === 'events') for await (const batch of reply.events) events.push(...batch);
  return events;
}

const reply = async (change: Partial<TextRequest>) => joined(await pieces(change));
const textOf = (events: readonly TextEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const callsOf = (events: readonly TextEvent[]) =>
  events.flatMap((event) => (event.type === 'call' ? [event.name] : event.type === 'arguments' ? [event.json] : []));
const TOOL = { name: 'get_weather', parameters: SCHEMA };

describe('The sandbox writer', () => {
  it('states that it is not a model, and repeats the prompt word by word, the same each time', async () => {
    const events = await pieces(saying('Hello there'));
    expect(textOf(events)).toBe('This is the sandbox writer, not a real model. You wrote: Hello there');
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(10);
    expect(await pieces(saying('Hello there'))).toEqual(events);
  });

  it('counts tokens of input, output, images and reasoning', async () => {
    const events = await reply({ ...RICH, tools: [], reasoning: { visible: true } });
    const finish = events.at(-1);
    expect(finish).toMatchObject({ type: 'finish', usage: { imageInputTokens: 3 * 765, source: 'upstream' } });
    const usage = finish?.type === 'finish' ? finish.usage : undefined;
    expect(usage?.reasoningTokens).toBeGreaterThan(0);
    expect(usage?.outputTokens).toBeGreaterThan(usage?.reasoningTokens ?? 0);
    expect(usage?.inputTokens).toBeGreaterThan(3 * 765);
  });

  it.each<[string, Partial<TextRequest>, string[]]>([
    ['a tool that the prompt names', saying('Use get_weather for Paris'), ['get_weather', '{"city":"Paris"}']],
    ['no tool that it does not name', saying('Hello'), []],
    [
      'a tool when one is demanded',
      { ...saying('Is it cold in Rome?'), toolChoice: { mode: 'required', names: [] } },
      ['get_weather', '{"city":"Rome"}'],
    ],
    ['no tool when none is allowed', { ...saying('Use get_weather'), toolChoice: { mode: 'none' } }, []],
  ])('calls %s', async (_what, change, calls) => {
    const events = await reply({ tools: [TOOL], ...change });
    expect(callsOf(events)).toEqual(calls);
    expect(events.at(-1)).toMatchObject({ reason: calls.length > 0 ? 'tool-calls' : 'stop' });
  });

  it.each<[string, string, string | undefined, string[]]>([
    ['What is the weather in Paris?', 'get_weather', undefined, ['get_weather', '{"city":"Paris"}']],
    ['Is there a weather forecast for Rome', 'weatherForecasts', undefined, ['weatherForecasts', '{"city":"Rome"}']],
    ['How warm will it be in Paris?', 'lookup', 'Tells how warm it is.', ['lookup', '{"city":"Paris"}']],
    [
      'How warm is the sea in Nice?',
      'lookup',
      'Temperatures of the air and of the sea, how warm or cold both are or were, for every place.',
      ['lookup', '{"city":"Nice"}'],
    ],
    [
      'How warm is it?',
      'lookup',
      'Temperatures of the air and of the sea, how warm or cold both are or were, for every place.',
      [],
    ],
    [
      '\u5df4\u9ece\u5929\u6c14\u600e\u4e48\u6837\uff1f',
      'lookup',
      '\u67e5\u8be2\u57ce\u5e02\u5929\u6c14\u3002',
      ['lookup', '{"city":"sandbox"}'],
    ],
    ['Say hello.', 'get_weather', 'Tells the weather. Say hello to it.', []],
    [`Weather ${'x'.repeat(1_000)}`, 'get_weather', undefined, []],
  ])('calls a tool that answers the question, and no other: %s %s %s', async (question, name, description, calls) => {
    const tools = [{ name: 'list_files' }, { name, parameters: SCHEMA, ...(description && { description }) }];
    expect(callsOf(await reply({ ...saying(question), tools }))).toEqual(calls);
  });

  it('calls several tools at once, and one when only one is wanted', async () => {
    const tools = [TOOL, { name: 'get_time' }];
    const both = saying('Use get_weather and get_time');
    expect(callsOf(await reply({ ...both, tools }))).toEqual(['get_weather', '{"city":"sandbox"}', 'get_time', '{}']);
    expect(callsOf(await reply({ ...both, tools, parallelToolCalls: false }))).toHaveLength(2);
  });

  it('repeats the result of a tool and describes images', async () => {
    const text = textOf(await reply({ ...RICH, tools: [TOOL] }));
    expect(text).toContain('The tool get_weather returned: 22 degrees [image].');
    const image = { type: 'image' as const, source: { kind: 'url' as const, url: 'https://a.example/1.png' } };
    const seen = textOf(await reply({ turns: [{ role: 'user', parts: [image] }] }));
    expect(seen).toContain('an image at https://a.example/1.png, which the sandbox does not fetch');
  });

  it('fills a schema, and writes JSON when any will do', async () => {
    const format = { type: 'json-schema' as const, name: 'place', schema: SCHEMA };
    expect(JSON.parse(textOf(await reply({ ...saying('Where is Paris ?'), format })))).toEqual({ city: 'Paris' });
    expect(JSON.parse(textOf(await reply({ ...saying('x'), format: { type: 'json' } })))).toMatchObject({
      prompt: 'x',
    });
  });

  it('obeys stop sequences and the output limit', async () => {
    const stopped = await reply({ ...saying('x'), stopSequences: ['You', 'not a'] });
    expect(textOf(stopped)).toBe('This is the sandbox writer, ');
    expect(stopped.at(-1)).toMatchObject({ reason: 'stop-sequence', stopSequence: 'not a' });
    const cut = await reply({ ...saying('x'), maxOutputTokens: 4 });
    expect(cut.at(-1)).toMatchObject({ reason: 'length', usage: { outputTokens: 4 } });
    expect(textOf(cut)).toBe('This is the sandbox');
  });

  it('shows its reasoning only when it is to be visible, with a proof whenever reasoning was asked for', async () => {
    const kinds = async (reasoning: TextRequest['reasoning']) =>
      (await reply({ ...saying('x'), ...(reasoning && { reasoning }) })).map(({ type }) => type);
    expect(await kinds({ visible: true })).toEqual(['reasoning', 'signature', 'text', 'finish']);
    expect(await kinds({ visible: false })).toEqual(['signature', 'text', 'finish']);
    expect(await kinds({ visible: false, effort: 'none' })).toEqual(['text', 'finish']);
    expect(await kinds(undefined)).toEqual(['text', 'finish']);
  });

  it('fails as directives in the prompt ask', async () => {
    await expect(pieces(saying('[sandbox:fail=upstream_error]'))).rejects.toMatchObject({ code: 'upstream_error' });
    await expect(pieces(saying('go on [sandbox:cut]'))).rejects.toMatchObject({ code: 'upstream_error' });
    const filtered = await reply(saying('[sandbox:fail=content_policy]'));
    expect(filtered.at(-1)).toMatchObject({ reason: 'content-filter' });
    const flaky = saying('[sandbox:flaky=2]');
    const tries = [1, 2, 3].map(() =>
      pieces(flaky, undefined, 'req_flaky').then(
        () => 'replied',
        () => 'failed',
      ),
    );
    expect(await Promise.all(tries)).toEqual(['failed', 'failed', 'replied']);
  });

  it.each(['[sandbox:hang]', '[sandbox:delay=60000]'])('stops with the caller, even from %s', async (word) => {
    const leaving = new AbortController();
    const waiting = pieces(saying(word), leaving.signal);
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
