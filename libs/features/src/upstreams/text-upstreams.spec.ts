import { REFUSE_UNPRICED, type TextProtocol, type TextReply, type UnpricedUse } from '#contracts';
import { placeOf, type TextUpstream, TextUpstreams, toolsLeftOut } from './text-upstreams.js';

const OFFERED: UnpricedUse = { kind: 'tools', name: 'web_search', param: 'tools[0]', isOptional: true };
const INSISTED: UnpricedUse = { kind: 'tools', name: 'web_search', param: 'tools[0]' };

const upstream = (id: string, protocol: TextProtocol, more: Partial<TextUpstream> = {}): TextUpstream => ({
  provider: { id, protocol, call: () => Promise.reject<TextReply>(new Error('not asked here')) },
  healthName: id,
  models: new Map([['m', 'theirs']]),
  weight: 1,
  priority: 0,
  ...more,
});

const RUNS_IT = { policy: { ...REFUSE_UNPRICED, tools: ['web_search'] } };

/** The upstreams that are asked for a request of the responses style, with the tools each does without. */
function asked(use: UnpricedUse, ...upstreams: readonly TextUpstream[]): Record<string, readonly string[]> {
  const routes = new TextUpstreams(upstreams, () => 0.5).routes('m', [use], 'responses');
  return Object.fromEntries(
    routes.map((route) => [route.upstream.provider.id, toolsLeftOut(route, [use], 'responses')]),
  );
}

describe('A tool that a request only offers', () => {
  it('goes to an upstream that runs it, and to no other while there is one', () => {
    expect(asked(OFFERED, upstream('other', 'chat'), upstream('own', 'responses', RUNS_IT))).toEqual({ own: [] });
  });

  it('is left out where no upstream may run it, also when passing through', () => {
    expect(asked(OFFERED, upstream('other', 'chat'), upstream('own', 'responses'))).toEqual({
      other: ['web_search'],
      own: ['web_search'],
    });
  });

  it('is left out of a translated request also where a policy lists it: the upstream does not know it', () => {
    expect(asked(OFFERED, upstream('other', 'messages', RUNS_IT))).toEqual({ other: ['web_search'] });
  });

  it.each(['responses', 'chat'] as const)('is left out over %s where its operator says so', (protocol) => {
    expect(asked(OFFERED, upstream('it', protocol, { lackingTools: 'drop' }))).toEqual({ it: ['web_search'] });
  });

  it.each(['responses', 'chat'] as const)('is refused over %s where its operator says so', (protocol) => {
    expect(() => asked(OFFERED, upstream('it', protocol, { lackingTools: 'refuse' }))).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'tools[0]' }),
    );
  });

  it('reaches the sandbox, which reports that it does not run it', () => {
    expect(asked(OFFERED, upstream('it', 'sandbox', RUNS_IT))).toEqual({ it: [] });
  });
});

it('A tool that a request insists on is refused where no upstream runs it', () => {
  expect(() => asked(INSISTED, upstream('other', 'chat', { lackingTools: 'drop' }))).toThrow(
    expect.objectContaining({ code: 'unsupported_parameter', param: 'tools[0]' }),
  );
});

describe('Upstreams that sell below cost', () => {
  const limits = (contextTokens: number): Partial<TextUpstream> => ({
    limits: new Map([['m', { contextTokens, maxOutputTokens: contextTokens / 10 }]]),
  });
  const dear = upstream('dear', 'responses', { refusesBelowCost: true, ...RUNS_IT, ...limits(1_000_000) });
  const cheap = upstream('cheap', 'chat', limits(100_000));
  let upstreams: TextUpstreams;
  beforeEach(() => {
    upstreams = new TextUpstreams([dear, cheap], () => 0.5);
    upstreams.leaveOut(new Set([placeOf('dear', 'm')]), ['rich']);
  });

  it.each<[string, string | undefined, readonly string[]]>([
    ['without a list', undefined, ['cheap']],
    ['with a list of other prices', 'rich', ['cheap', 'dear']],
    ['with a list that has no rule in force', 'empty', ['cheap']],
  ])('are passed over by the prices of an account %s', (_case, priceList, ids) => {
    const asked = upstreams.routes('m', [], 'responses', undefined, priceList);
    expect(asked.map(({ upstream: { provider } }) => provider.id).toSorted()).toEqual(ids);
    expect(upstreams.candidates('m', priceList)).toBe(ids.length);
    expect(upstreams.runsNatively('m', [INSISTED], 'responses', priceList)).toBe(ids.includes('dear'));
  });

  it('are still asked, once exchanged, by an account whose prices pay for them', () => {
    const route = upstreams.routes('m', [], 'responses', undefined, 'rich').find((each) => each.upstream === dear)!;
    const renewed = { ...dear };
    upstreams.exchange([renewed, cheap]);
    expect(upstreams.current(route, 'm', [], 'responses', 'rich')?.upstream).toBe(renewed);
    expect(upstreams.current(route, 'm', [], 'responses')).toBeUndefined();
  });

  it('count for what a model takes, whoever is asked', () => {
    expect(upstreams.limitsOf('m')).toMatchObject({ contextTokens: 1_000_000, maxOutputTokens: 10_000 });
  });
});
