import { GatewayError } from '#contracts';
import { expectRedactions, Redaction, REDACTION_NAMES, RedactionTime } from './redaction.js';

const clean = async (text: string, ...redactions: string[]): Promise<string | undefined> =>
  (await new Redaction(redactions).clean([text]))[0];

describe('Redaction', () => {
  it.each([
    ['email', 'write to ada.l+x@mail.example.co.uk, soon', 'write to [redacted], soon'],
    ['phone', 'call +49 30 1234-5678 or 0049301234567, not 12345678', 'call [redacted] or [redacted], not 12345678'],
    ['card_number', '4111-1111-1111-1111 but not 4111-1111-1111-1112', '[redacted] but not 4111-1111-1111-1112'],
    ['iban', 'DE89 3704 0044 0532 0130 00 but not DE88370400440532013000', '[redacted] but not DE88370400440532013000'],
    [
      'ip_address',
      'from 10.0.0.1, 2001:db8::1 at 10:20:30 in v1.2.3',
      'from [redacted], [redacted] at 10:20:30 in v1.2.3',
    ],
    ['secret', 'key sk-abcdefghijklmnop1234 and ghp_abcdefghijklmnop12', 'key [redacted] and [redacted]'],
    ['EMP-####', 'emp-1234 and EMP-12', '[redacted] and EMP-12'],
    ['project *', 'Project heron (secret) and project', '[redacted] (secret) and project'],
    ['a.b+c', 'a.b+c and axbbc', '[redacted] and axbbc'],
  ])('takes out %s', async (redaction, text, cleaned) => {
    expect(await clean(text, redaction)).toBe(cleaned);
  });

  it('takes the body of a private key out, whatever stands in it', async () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${'QUJD\n'.repeat(60)}-----END RSA PRIVATE KEY-----`;
    expect(await clean(`mine: ${key}`, 'secret')).not.toContain('QUJD');
  });

  it('refuses by its place what is no name and no pattern', () => {
    for (const bad of ['', 'ab', '##**', 'a*b*c', 'two\nlines', 'x'.repeat(65), '***abc*'])
      expect(() => expectRedactions(['email', bad])).toThrow(
        expect.objectContaining({ code: 'invalid_parameter', param: 'redactions.1' }) as GatewayError,
      );
    expectRedactions([...REDACTION_NAMES, 'EMP-####', 'case *', '[a-z]+']);
  });

  it('takes time in proportion to the text, whatever is in it', async () => {
    const redactions = [...REDACTION_NAMES, `${'a'.repeat(62)}#`, 'a*b#'];
    for (const part of ['a', '1', ':', '@', 'a.', '1 ', '+1', 'AA11', '-----BEGIN PRIVATE KEY-----', 'é'])
      expect(await clean(part.repeat(Math.ceil((256 * 1024) / part.length)), ...redactions)).toBeDefined();
  });

  it('lets other work run every few milliseconds, however long one text and one pattern are', async () => {
    let turns = 0;
    const over = new AbortController();
    const others = (async () => {
      while (!over.signal.aborted) {
        await new Promise((resolve) => setImmediate(resolve));
        turns += 1;
      }
    })();
    const text = 'a'.repeat(1024 * 1024);
    expect(await clean(text, `${'a'.repeat(60)}*b`)).toBe(text);
    over.abort();
    await others;
    expect(turns).toBeGreaterThan(8);
  });

  it('finds what lies across the places where a long text is searched in parts', async () => {
    const found = {
      secret: `sk-${'x'.repeat(900)}`,
      email: 'ada@mail.example.co.uk',
      'EMP-####*end': 'emp-1234 '.trim() + '-at-the-end',
    };
    for (const [redaction, secret] of Object.entries(found))
      for (const before of [8_191, 8_192 - 3, 8_192 - 800, 16_384 - 1, 16_384 - 20])
        expect(await clean(`${'é'.repeat(before - 1)} ${secret} ${secret}`, redaction)).toBe(
          `${'é'.repeat(before - 1)} [redacted] [redacted]`,
        );
  });

  it('has ten seconds of an account at once, and a tenth of the time of it, each account its own', () => {
    let now = 0;
    const time = new RedactionTime(() => now);
    for (let taken = 0; taken < 10_000; taken += 2_000) {
      expect(time.hasSome('acct_a')).toBe(true);
      time.take('acct_a', 2_000);
    }
    expect([time.hasSome('acct_a'), time.hasSome('acct_b')]).toEqual([false, true]);
    now += 20_000;
    expect(time.hasSome('acct_a')).toBe(true);
    time.take('acct_a', 2_000);
    expect(time.hasSome('acct_a')).toBe(false);
  });
});
