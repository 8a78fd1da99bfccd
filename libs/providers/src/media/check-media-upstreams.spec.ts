import { readFileSync } from 'node:fs';
import { MODEL_IDS } from '#contracts';
import { checkMediaUpstream } from './check-media-upstreams.js';
import { MEDIA_CODECS, MEDIA_PROTOCOLS } from './media-protocols.js';
import { MediaUpstreamEntry, servedModels } from './media-upstream-entry.js';
import { openMediaUpstreams, readMediaUpstreams } from './open-media-upstreams.js';

const ENVIRONMENT = { SECRET: 'sk-very-secret' };

const problemsOf = (text: string): readonly string[] => {
  try {
    readMediaUpstreams(text, 'upstreams.yaml', ENVIRONMENT);
    return [];
  } catch (error) {
    return (error as { problems: readonly string[] }).problems;
  }
};

const GOOD = `
media_upstreams:
  - id: ark-sg
    protocol: ark-video
    key: \${SECRET}
    vendor_account: byteplus
    models:
      alpha-2.0: dreamina-seedance-2-0-260128
      alpha-2.0-fast: { name: ep-1, references: inline }
    limits: { running: 10, starts_per_minute: 5 }
    costs: { unit: USD, alpha-2.0: { 480p: 0.025, 720p: 0.055 } }
  - id: peer
    protocol: gateway
    base_url: https://gateway.example.com
    key: \${SECRET}
    models: all
    except: [theta-image-turbo]
    priority: 2
`;

describe('media_upstreams of UPSTREAMS_FILE', () => {
  it('reads entries with their secrets from the environment, and fills in defaults', () => {
    expect(readMediaUpstreams(GOOD, 'f', ENVIRONMENT)).toMatchObject([
      { id: 'ark-sg', key: 'sk-very-secret', weight: 1, priority: 0, lost_calls: 'fail', only_accounts: [] },
      { id: 'peer', models: 'all', priority: 2 },
    ]);
  });

  it('gives each model its name and its own settings', () => {
    const [ark, peer] = readMediaUpstreams(GOOD, 'f', ENVIRONMENT) ?? [];
    expect(ark && Object.fromEntries(servedModels(ark))).toEqual({
      'alpha-2.0': { name: 'dreamina-seedance-2-0-260128', references: undefined },
      'alpha-2.0-fast': { name: 'ep-1', references: 'inline' },
    });
    expect(peer && [...servedModels(peer).keys()]).toEqual(MODEL_IDS.filter((model) => model !== 'theta-image-turbo'));
  });

  it('refuses the id of an upstream of text, and names both lines', () => {
    const text = 'upstreams:\n  - id: peer\n    protocol: sandbox\n    models: { a: a }\n';
    expect(problemsOf(text + GOOD)).toEqual([
      expect.stringMatching(/:16: media_upstreams\[1\]\.id "peer" is the id of an upstream on line 2 too/),
    ]);
  });

  it('leaves a file alone that only lists upstreams of text', () => {
    expect(readMediaUpstreams('upstreams: [{ key: "${UNSET}" }]', 'f', {})).toBeUndefined();
  });

  it.each<[string, string, RegExp]>([
    [
      'a vendor without https',
      GOOD.replace('protocol: ark-video', 'protocol: ark-video\n    base_url: http://ark.cn-beijing.volces.com/api/v3'),
      /:5: media_upstreams\[0\]\.base_url must begin with https/,
    ],
    [
      'a key in quotation marks',
      GOOD.replace('key: ${SECRET}', `key: '"\${SECRET}"'`),
      /:5: media_upstreams\[0\]\.key must be 1 to 8192 printable .* quotation marks around/,
    ],
    ['an unknown protocol', GOOD.replace('ark-video', 'soap'), /:4: media_upstreams\[0\]\.protocol must be one of/],
    [
      'a misspelt model',
      GOOD.replace('alpha-2.0:', 'alpha-2.00:'),
      /:8: .*models\.alpha-2\.00 is no model of ours; did/,
    ],
    [
      'a model the protocol cannot make',
      GOOD.replace('alpha-2.0-fast', 'delta-v2-6'),
      /:9: .* is not made by protocol ark/,
    ],
    ['a missing key', GOOD.replace('    key: ${SECRET}\n    vendor', '    vendor'), /:3: .*\[0\]\.key is required/],
    ['a missing address', GOOD.replace(/.*base_url.*\n/, ''), /:12: .*\[1\]\.base_url is required/],
    ['a variable that is not set', GOOD.replace('SECRET', 'OTHER'), /:5: .*\.key names the environment variable OTHER/],
    ['a rate below one a minute', GOOD.replace('minute: 5', 'minute: 0.5'), /:10: .*limits\.starts_per_minute must/],
    ['a rate above 10,000', GOOD.replace('minute: 5', 'minute: 10001'), /:10: .*limits\.starts_per_minute must/],
    ['an id used twice', GOOD.replace('id: peer', 'id: ark-sg'), /:12: .*\[1\]\.id "ark-sg" is used twice/],
    [
      'an exception that it does not make',
      GOOD.replace('[theta-image-turbo]', '[thta]'),
      /:17: .*except\[0\] is no model/,
    ],
    ['exceptions without all', GOOD.replace('models: all', 'models: { alpha-2.0: a }'), /except needs models: all/],
    ['costs without a unit', GOOD.replace('unit: USD, ', ''), /:11: .*costs\.unit must be 1 to 16 letters/],
    ['a cost that is no number', GOOD.replace('0.025', 'cheap'), /:11: .*costs\.alpha-2\.0\.480p must be a number/],
    [
      'an unknown field',
      GOOD.replace('priority: 2', 'prority: 2'),
      /:18: .*prority is not a field here; did you mean priority\?/,
    ],
    ['an empty list', 'media_upstreams: []', /:1: media_upstreams must be a list/],
  ])('names file, line, field and rule of %s', (_, text, expected) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(expected)]);
  });

  it('never repeats a secret', () => {
    expect(problemsOf(GOOD.replace('${SECRET}', '"${SECRET} with spaces"')).join()).not.toContain('sk-very-secret');
  });
});

/** A key file as it is in `key`. */
const KEY_FILE = Buffer.from(
  '{"client_email":"a","private_key":"b","token_uri":"https://oauth2.googleapis.com/token","project_id":"p"}',
).toString('base64');

describe('the access of one media upstream', () => {
  const entry = (fields: string): string => `media_upstreams:
  - id: it
    models: all
${fields}`;

  it.each([
    ['a service account elsewhere', '    protocol: kling\n    service_account_file: /a', /:5: .*is not allowed here/],
    [
      'a key file that is not there',
      '    protocol: vertex-veo\n    service_account_file: /no/file',
      /:5: .*cannot be read \(ENOENT\)/,
    ],
    [
      'a key that is no key file',
      '    protocol: vertex-veo\n    key: sk-very-secret',
      /:5: .*key must be the key file/,
    ],
    ['both', '    protocol: vertex-veo\n    key: a\n    service_account_file: /a', /:6: .*excludes key/],
    ['two colons', '    protocol: kling\n    key: a:b:c', /:5: .*ACCESS_KEY:SECRET_KEY/],
    [
      'a setting that does not exist',
      `    protocol: vertex-veo\n    key: ${KEY_FILE}\n    settings: { zone: a }`,
      /settings\.zone is not a setting of this protocol/,
    ],
    [
      'a bucket that is none',
      `    protocol: vertex-veo\n    key: ${KEY_FILE}\n    settings: { storage_uri: 'https://a' }`,
      /settings\.storage_uri must be gs:/,
    ],
    [
      'settings of a protocol without',
      '    protocol: vidu\n    key: a\n    settings: { region: a }',
      /settings\.region is not allowed here/,
    ],
    [
      'a form of images that there is not',
      '    protocol: xai-image\n    key: a\n    settings: { response_format: png }',
      /settings\.response_format must be one of url, b64_json/,
    ],
  ])('names file, line, field and rule of %s, and no key', (_, fields, expected) => {
    const problems = problemsOf(entry(fields));
    expect(problems).toEqual([expect.stringMatching(expected)]);
    expect(problems.join()).not.toContain('sk-very-secret');
  });
});

describe('callbacks', () => {
  const text =
    'media_upstreams:\n  - id: it\n    protocol: minimax\n    models: all\n    key: k\n    callbacks: true\n';

  it('need an address that vendors can call, and say so with file, line and field', () => {
    expect(() => readMediaUpstreams(text, 'file', {}, { isReached: false })).toThrow(
      /^file:6: media_upstreams\[0\]\.callbacks needs PUBLIC_BASE_URL/,
    );
    expect(readMediaUpstreams(text, 'file', {}, { isReached: true })).toHaveLength(1);
  });

  it('are refused where the vendor makes no callbacks', () => {
    const other = text.replace('minimax', 'xai-image');
    expect(() => readMediaUpstreams(other, 'file', {}, { isReached: true })).toThrow(/callbacks is not allowed here/);
  });
});

describe('costs and allowances of one media upstream', () => {
  const entry = (fields: string): string =>
    `media_upstreams:\n  - { id: it, protocol: ark-video, key: k, models: { alpha-2.0: seedance }, ${fields} }`;

  it.each([
    ['costs: { unit: USD, alpha-2.0: { 480q: 1 } }', /costs\.alpha-2\.0\.480q is not a price variant of alpha-2\.0/],
    ['costs: { unit: USD, alpha-2.0: 0.0000000000001 }', /costs\.alpha-2\.0 must be a number .* 12 decimal places/],
    ['costs: { alpha-2.0: 1 }', /costs\.unit must be 1 to 16 letters/],
    ['costs: { unit: USD, rates: 7 }', /costs\.rates must name units/],
    ['costs: { unit: USD, rates: { tokens: -1 } }', /costs\.rates\.tokens must be a number/],
    ['limits: { spend_per_day: 10 }', /limits\.spend_per_day needs costs of every model; alpha-2\.0/],
    [
      'limits: { spend_per_month: 10 }, costs: { unit: USD, alpha-2.0: { 480p: 1 } }',
      /limits\.spend_per_month needs costs/,
    ],
    ['limits: { spend_per_day: ten }', /limits\.spend_per_day must be a number/],
    ['limits: { orders_per_month: 0 }', /limits\.orders_per_month/],
  ])('are refused by field and rule: %s', (fields, expected) => {
    expect(problemsOf(entry(fields))).toEqual([expect.stringMatching(expected)]);
  });

  it('are accepted where they say all that they need', () => {
    const costs = 'costs: { unit: CNY, rates: { CNY: 0.14, tokens: "0.0000043" }, alpha-2.0: 1 }';
    const limits = 'limits: { orders_per_day: 50, spend_per_month: 10.5 }';
    expect(readMediaUpstreams(entry(`${costs}, ${limits}`), 'file', {})).toHaveLength(1);
  });
});

describe('Each protocol of a vendor', () => {
  it.each(Object.entries(MEDIA_CODECS))('is called %s by its codec as well', (protocol, codec) => {
    expect(codec.protocol).toBe(protocol);
  });

  const ownAddresses = Object.values(MEDIA_CODECS).flatMap(({ protocol, defaultBaseUrl = '' }) =>
    defaultBaseUrl === '' ? [] : [[protocol, defaultBaseUrl.replace('https:', 'http:')]],
  );
  it.each(ownAddresses)('sends no key of %s to %s, which is the vendor in the clear', (protocol, address) => {
    const entry = { id: 'it', protocol, base_url: address, key: KEY_FILE, models: 'all' };
    const { mistakes } = checkMediaUpstream(MediaUpstreamEntry, entry);
    expect(mistakes).toContainEqual({ path: ['base_url'], rule: expect.stringMatching(/^must begin with https/) });
  });
});

describe('docs/upstreams.example.yaml', () => {
  it('is a correct file with one upstream of media for each protocol', () => {
    const text = readFileSync('docs/upstreams.example.yaml', 'utf8');
    const keys = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'a-key'] as const);
    const environment = { ...Object.fromEntries(keys), VERTEX_KEY_FILE_BASE64: KEY_FILE };
    const entries = readMediaUpstreams(text, 'example', environment);
    expect(entries?.map(({ protocol }) => protocol).toSorted()).toEqual([...MEDIA_PROTOCOLS]);
  });
});

describe('docs/media-upstreams.md', () => {
  const page = readFileSync('docs/media-upstreams.md', 'utf8');
  const tableUnder = (heading: string): string => page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';

  it.each(MEDIA_PROTOCOLS)('has a row of %s in its table of protocols', (protocol) => {
    expect(tableUnder('Protocols')).toContain(`\n| \`${protocol}\``);
  });
});

describe('The variables of media upstreams', () => {
  it('are all read before the first mistake is reported, those of text upstreams too', () => {
    const wrong = { TEXT_RETRY_SECONDS: 'x', SANDBOX_IMAGE_MS: '-1', MEDIA_FETCH_ALLOW: 'nowhere/99', PORT: 'abc' };
    let problems: readonly string[] = [];
    try {
      openMediaUpstreams({}, wrong);
    } catch (error) {
      ({ problems } = error as { problems: readonly string[] });
    }
    expect(problems.map((problem) => problem.split(' ', 1)[0])).toEqual(Object.keys(wrong));
  });
});
