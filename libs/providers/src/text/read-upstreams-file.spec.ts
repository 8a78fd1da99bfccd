import { readFileSync } from 'node:fs';
import { TEXT_PROTOCOLS } from '#contracts';
import { readUpstreamsFile } from './open-text-upstreams.js';

const problemsOf = (text: string): readonly string[] => {
  try {
    readUpstreamsFile(text, 'upstreams.yaml', { SECRET: 'sk-1' });
    return [];
  } catch (error) {
    return (error as { problems: readonly string[] }).problems;
  }
};

const GOOD = `
upstreams:
  - id: main
    protocol: chat
    base_url: https://api.vendor.example/v1
    key: \${SECRET}
    models: { vendor-5: their-model }
    timeouts: { idle_seconds: 30 }
`;

describe('readUpstreamsFile', () => {
  it('reads an upstream with its secret from the environment, and fills in defaults', () => {
    expect(readUpstreamsFile(GOOD, 'f', { SECRET: 'sk-1' })).toMatchObject([
      {
        id: 'main',
        key: 'sk-1',
        models: { 'vendor-5': 'their-model' },
        weight: 1,
        priority: 0,
        timeouts: { connect_seconds: 5, first_byte_seconds: 600, idle_seconds: 30 },
        output_limit_field: 'max_tokens',
      },
    ]);
  });

  it.each<[string, string, RegExp]>([
    ['broken YAML', 'upstreams: [', /^upstreams\.yaml:1: /],
    ['no list', 'upstreams: []', /^upstreams\.yaml:1: /],
    [
      'an unknown protocol',
      GOOD.replace('chat', 'soap'),
      /^upstreams\.yaml:4: upstreams\[0\]\.protocol must be one of/,
    ],
    ['a missing address', GOOD.replace(/.*base_url.*\n/, ''), /^upstreams\.yaml:3: upstreams\[0\]\.base_url /],
    ['an address that is none', GOOD.replace('https://', 'ftp://'), /^upstreams\.yaml:5: upstreams\[0\]\.base_url /],
    [
      'a secret that is not set',
      GOOD.replace('SECRET', 'OTHER'),
      /^upstreams\.yaml:6: upstreams\[0\]\.key names the environment variable OTHER/,
    ],
    [
      'a key with a line break',
      GOOD.replace('${SECRET}', '"sk-1\\n"'),
      /^upstreams\.yaml:6: upstreams\[0\]\.key must be 1 to 8192 printable/,
    ],
    [
      'a password in the address',
      GOOD.replace('https://', 'https://me:secret@'),
      /^upstreams\.yaml:5: upstreams\[0\]\.base_url must be an http or https address without credentials/,
    ],
    [
      'a misspelt field',
      `${GOOD}    wieght: 2\n`,
      /^upstreams\.yaml:9: upstreams\[0\]\.wieght is not a field here; did you mean weight\?/,
    ],
    [
      'a field named like what every object inherits',
      GOOD.replace('{ vendor-5: their-model }', '{ constructor: their-model }'),
      /^upstreams\.yaml:7: upstreams\[0\]\.models\.constructor is not a name that a field may have/,
    ],
    [
      'no models',
      GOOD.replace('{ vendor-5: their-model }', '{}'),
      /^upstreams\.yaml:7: upstreams\[0\]\.models must name/,
    ],
    [
      'a model of videos',
      GOOD.replace('{ vendor-5: their-model }', '{ alpha-2.0: their-model }'),
      /^upstreams\.yaml:7: upstreams\[0\]\.models\.alpha-2\.0 makes videos and writes no text: it belongs under media_upstreams/,
    ],
    [
      'a variable without braces',
      GOOD.replace('${SECRET}', '$SECRET'),
      /^upstreams\.yaml:6: upstreams\[0\]\.key holds the name of a variable without braces: write \$\{SECRET\}/,
    ],
    ['a quoted number', `${GOOD}    weight: "2"\n`, /^upstreams\.yaml:9: upstreams\[0\]\.weight must/],
    [
      'the same id twice',
      GOOD + GOOD.split('\n').slice(2).join('\n'),
      /^upstreams\.yaml:9: upstreams\[1\]\.id "main" is used twice/,
    ],
  ])('reports %s in one line with its position', (_case, text, line) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(line);
  });

  it('reports every mistake at once, and never a secret', () => {
    const problems = problemsOf(GOOD.replace('chat', 'soap').replace('idle_seconds: 30', 'idle_seconds: 0'));
    expect(problems).toHaveLength(2);
    expect(problems.join()).not.toContain('sk-1');
  });
});

describe('docs/upstreams.example.yaml', () => {
  it('is a correct file with one upstream for each protocol', () => {
    const text = readFileSync('docs/upstreams.example.yaml', 'utf8');
    const environment = { RESPONSES_VENDOR_KEY: 'a', MESSAGES_VENDOR_KEY: 'b', GEMINI_VENDOR_KEY: 'c' };
    const entries = readUpstreamsFile(text, 'example', environment);
    expect(entries?.map(({ protocol }) => protocol).toSorted()).toEqual([...TEXT_PROTOCOLS].toSorted());
  });
});
