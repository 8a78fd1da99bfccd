import { SafeFetcher } from '#platform';
import { FakeGoogleTokens } from '../testing/fake-google-tokens.js';
import { GoogleCredentials, readServiceAccount } from './google-credentials.js';

const STAY = new AbortController().signal;

describe('GoogleCredentials', () => {
  let google: FakeGoogleTokens;
  let fetcher: SafeFetcher;
  let nowMs: number;
  let credentials: GoogleCredentials;

  beforeEach(async () => {
    google = await FakeGoogleTokens.start('token-1', 'token-2');
    fetcher = new SafeFetcher({ allow: ['127.0.0.0/8'], ports: 'any', maxRedirects: 0 });
    // So that an assertion of the time after the first token is not of the future.
    nowMs = Date.now() - 3_400_000;
    credentials = new GoogleCredentials(readServiceAccount(google.key), fetcher, () => nowMs);
  });
  afterEach(() => Promise.all([fetcher.close(), google.close()]));

  const token = async (): Promise<string | undefined> => (await credentials.headers(STAY))['authorization'];

  it('exchanges an assertion, which the official library accepts, for one token for all callers', async () => {
    expect(await Promise.all([token(), token(), token()])).toEqual(Array.from({ length: 3 }, () => 'Bearer token-1'));
    expect(google.accepted).toEqual([
      expect.objectContaining({ scope: 'https://www.googleapis.com/auth/cloud-platform', aud: google.uri }),
    ]);
  });

  it('uses a token until shortly before its end, and then another', async () => {
    await token();
    nowMs += 3_299_000;
    expect(await token()).toBe('Bearer token-1');
    nowMs += 2_000;
    expect(await token()).toBe('Bearer token-2');
  });

  it.each([3_600_000, -3_600_000])('43: signs by the clock of the vendor when ours is %d ms off', async (ms) => {
    nowMs = Date.now() + ms;
    expect(await token()).toBe('Bearer token-1');
    expect(google.accepted).toHaveLength(1);
  });

  it('43: asks once more only where a clock explains the refusal', async () => {
    google.refusal = { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } };
    nowMs = Date.now();
    await expect(token()).rejects.toMatchObject({ kind: 'unfit' });
    expect(google.asked).toBe(1);
  });

  it('19: gets another token once when one that is not new is refused', async () => {
    await token();
    expect(credentials.renewedAfter({ status: 401 })).toBe(false);
    nowMs += 60_000;
    expect(credentials.renewedAfter({ status: 403 })).toBe(false);
    expect(credentials.renewedAfter({ status: 401 })).toBe(true);
    expect(await token()).toBe('Bearer token-2');
  });

  it.each([
    [
      400,
      { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
      { kind: 'unfit', reason: 'wrong_key' },
    ],
    [429, {}, { kind: 'unavailable' }],
    [503, {}, { kind: 'unavailable' }],
    [200, { token: 'x' }, { kind: 'unavailable' }],
  ])('sorts a token endpoint that answers %d %j', async (status, body, expected) => {
    google.refusal = { status, body };
    await expect(token()).rejects.toMatchObject(expected);
  });

  it('reaches no token endpoint that is not public unless an operator allows it', async () => {
    const strict = new SafeFetcher({ maxRedirects: 0 });
    const careful = new GoogleCredentials(readServiceAccount(google.key), strict);
    await expect(careful.headers(STAY)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(google.accepted).toEqual([]);
    await strict.close();
  });

  it.each([
    ['no base64', 'must be the key file'],
    [Buffer.from('{"client_email":"a"}').toString('base64'), '"private_key"'],
  ])('names what is wrong with a key file, and nothing of it: %s', (key, rule) => {
    expect(() => readServiceAccount(key)).toThrow(rule);
  });
});
