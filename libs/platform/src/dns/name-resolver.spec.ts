import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, type NameAnswer, startNameServer, type TestNameServer } from '#testing';
import { NameResolver, type NameResolverOptions } from './name-resolver.js';
import { SafeFetcher } from '../safe-fetch/safe-fetcher.js';

const MANY = Array.from({ length: 3_000 }, (_, index) => `8.8.${index >> 8}.${index & 0xff}`);

/** What the name server does not answer in this time will never be answered; what it does answer is waited for. */
const PATIENT: NameResolverOptions = { tryMs: 30_000, limitMs: 60_000, otherFamilyMs: 60_000 };
const HASTY: NameResolverOptions = { tryMs: 150, limitMs: 400 };

/** What the name server says; every name below `slow.test` is never answered. */
const NAMES: Record<string, NameAnswer | null> = {
  'known.test': { addresses: ['203.0.114.7', '2606:4700::7'], ttl: 300 },
  'six.test': { addresses: ['2606:4700::8'] },
  'half.test': { addresses: ['203.0.114.8'], silentFor: 'AAAA' },
  'alias.test': { aliases: [['alias.test', 'real.test']], addresses: ['203.0.114.9'] },
  'loop.test': { aliases: [['loop.test', 'pool.test'], ['pool.test', 'loop.test']] }, // prettier-ignore
  'long.test': { addresses: MANY, truncated: 'then whole' },
  'cut.test': { addresses: ['203.0.114.10'], truncated: 'then silent' },
  'inside.test': { addresses: [...MANY, '10.0.0.1'], truncated: 'then whole' },
  'nothing.test': {},
};

describe('The names of hosts that users give', () => {
  let server: TestNameServer;
  const moving = { address: '203.0.114.1' };
  /** Lets names below `held.test` be answered: there are none. */
  let answerHeld = (): void => undefined;
  const held = new Promise<null>((resolve) => {
    answerHeld = () => resolve(null);
  });
  beforeAll(async () => {
    server = await startNameServer((name) => {
      if (name.endsWith('.slow.test')) return 'silent';
      if (name.endsWith('.held.test')) return held;
      if (name === 'moving.test') return { addresses: [moving.address] };
      return NAMES[name] ?? (/^fast\d+\.test$/.test(name) ? { addresses: ['203.0.114.1'] } : null);
    });
  });
  afterAll(() => server.close());

  const names = (options: NameResolverOptions = {}): NameResolver =>
    new NameResolver({ servers: [server.address], ...PATIENT, ...options });
  const addressesOf = async (host: string, by = names()): Promise<string[]> =>
    (await by.resolve(host, 'acct')).map(({ address }) => address);
  const timesAsked = (name: string): number => server.asked.filter((asked) => asked === name).length;

  it('are found with all their addresses, IPv4 first, however they are spelled', async () => {
    for (const spelled of ['known.test', 'KNOWN.Test', 'known.test.']) {
      expect(await addressesOf(spelled)).toEqual(['203.0.114.7', '2606:4700::7']);
    }
    expect(await addressesOf('six.test')).toEqual(['2606:4700::8']);
    expect(await addressesOf('alias.test')).toEqual(['203.0.114.9']);
  });

  it.each(['unknown.test', 'nothing.test', 'loop.test', `${'a'.repeat(64)}.test`])(
    'are refused when there is no address: %s',
    async (host) => {
      await expect(addressesOf(host)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    },
  );

  it.each(['one.slow.test', 'cut.test'])('end by themselves when the server is silent: %s', async (host) => {
    await expect(addressesOf(host, names(HASTY))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('do not wait for a server that never answers for the other address family', async () => {
    // The test ends long before the wait for such a server would.
    const by = names({ tryMs: 300_000, limitMs: 600_000, otherFamilyMs: 250 });
    expect(await addressesOf('half.test', by)).toEqual(['203.0.114.8']);
  });

  it('are queried over TCP when the answer is too long, and every address of thousands is checked', async () => {
    expect(await addressesOf('long.test')).toHaveLength(MANY.length);
    const limitsFor = (host: string) => (host.endsWith('.slow.test') ? HASTY : {});
    const fetcher = new SafeFetcher({ resolve: (host, share) => names(limitsFor(host)).resolve(host, share) });
    await expect(fetcher.checkHost('https://long.test/', 'acct')).resolves.toBeInstanceOf(URL);
    await expect(fetcher.checkHost('https://inside.test/', 'acct')).rejects.toMatchObject({ code: 'address_blocked' });
    await expect(fetcher.checkHost('https://two.slow.test/', 'acct')).rejects.toMatchObject({ code: 'timeout' });
    await expect(fetcher.checkHost('https://unknown.test/', 'acct')).rejects.toMatchObject({ code: 'name_not_found' });
    await expect(fetcher.checkHost('https://localhost/', 'acct')).rejects.toMatchObject({ code: 'address_blocked' });
    await fetcher.close();
  });

  it('are cached, found or not, and queried once for concurrent lookups', async () => {
    const by = names();
    const before = [timesAsked('known.test'), timesAsked('never.test')];
    await Promise.all(Array.from({ length: 50 }, () => addressesOf('known.test', by)));
    await addressesOf('known.test', by);
    for (let look = 0; look < 3; look += 1) await expect(addressesOf('never.test', by)).rejects.toThrow();
    // One question for each family.
    expect([timesAsked('known.test'), timesAsked('never.test')]).toEqual(before.map((count) => count + 2));
  });

  it('are queried again when their time to live is over, and at least a second later', async () => {
    const by = names();
    const askedMs = performance.now();
    expect(await addressesOf('moving.test', by)).toEqual(['203.0.114.1']);
    moving.address = '203.0.114.2';
    await eventually(async () => (await addressesOf('moving.test', by))[0] === '203.0.114.2');
    expect(performance.now() - askedMs).toBeGreaterThanOrEqual(1_000);
  });

  it('come from the hosts file first, and localhost never from a server', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
    const hostsFile = join(folder, 'hosts');
    await writeFile(
      hostsFile,
      '# known.test is not this\n10.9.8.7  listed.test Known.Test # comment\n::1 listed.test\n',
    );
    const by = names({ hostsFile });
    expect(await addressesOf('listed.test', by)).toEqual(['10.9.8.7', '::1']);
    expect(await addressesOf('known.test', by)).toEqual(['10.9.8.7']);
    expect(await addressesOf('a.localhost', by)).toEqual(['127.0.0.1', '::1']);
    expect(await addressesOf('localhost', names({ hostsFile: join(folder, 'none') }))).toEqual(['127.0.0.1', '::1']);
    expect(timesAsked('a.localhost') + timesAsked('localhost')).toBe(0);
    await rm(folder, { recursive: true });
  });

  it('of one account that are never answered delay no other account, and queue within limits', async () => {
    const by = names({ most: 24, mostPerShare: 16, limitMs: 6_000, tryMs: 6_000 });
    const silent = Array.from({ length: 150 }, (_, index) => by.resolve(`h${index}.slow.test`, 'hostile'));
    const ends = Promise.allSettled(silent);
    // A lookup waiting for a slot of the silent ones would be refused before one is free.
    for (let index = 0; index < 20; index += 1) await by.resolve(`fast${index}.test`, 'victim');
    expect(new Set(server.asked.filter((name) => /^h\d+\.slow/.test(name))).size).toBeLessThanOrEqual(16);
    expect((await ends).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('alternate between accounts when all slots are taken', async () => {
    const by = names({ most: 16, mostPerShare: 16 });
    const slow = Array.from({ length: 200 }, (_, index) => by.resolve(`t${index}.held.test`, 'hostile'));
    const ends = Promise.allSettled(slow);
    const slowAsked = (): number => new Set(server.asked.filter((name) => /^t\d+\.held/.test(name))).size;
    await eventually(() => slowAsked() === 16);
    const fast = by.resolve('fast99.test', 'victim');
    answerHeld();
    await expect(fast).resolves.toHaveLength(1);
    expect(slowAsked()).toBeLessThanOrEqual(31);
    await ends;
  });
});
