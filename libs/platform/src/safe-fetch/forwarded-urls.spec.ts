import { ForwardedUrls, type ResolveName } from './forwarded-urls.js';
import { SafeFetcher } from './safe-fetcher.js';

describe('URLs fetched by another party', () => {
  const rules = (resolve: ResolveName, allow: string[] = []) =>
    new ForwardedUrls(new SafeFetcher({ allow }), allow, resolve);
  const neverResolve: ResolveName = () => Promise.reject(new Error('not to be asked'));

  it.each(['https://cdn.example.com/x', 'http://8.8.8.8/x'])('may be public: %s', (url) => {
    expect(rules(neverResolve).check(url).href).toBe(url);
  });

  it.each([
    'http://127.1/',
    'http://localhost/',
    'http://a.localhost./',
    'http://db.internal/',
    'http://nas.local/',
    'http://redis/',
    'http://kubernetes.default.svc/',
    'http://nas.private/',
    'ftp://cdn.example.com/x',
    'http://u:p@cdn.example.com/',
    'https://cdn.example.com:8443/',
  ])('may not lead into a network: %s', (url) => {
    expect(() => rules(neverResolve).check(url)).toThrow();
  });

  it.each([
    ['a backslash in front of another host', 'http://cdn.example.com\\@127.0.0.1/'],
    ['another host behind a question mark', 'http://cdn.example.com?@127.0.0.1/'],
    ['another host behind a hash', 'http://cdn.example.com#@127.0.0.1/'],
    ['a host without its slashes', 'http:cdn.example.com/'],
    ['a host behind a third slash', 'http:///cdn.example.com/'],
    ['a line break within the host', 'http://cdn.exam\nple.com/'],
    ['an octal address, private in decimal', 'http://010.8.8.8/'],
    ['an address as one number', 'http://134744072/'],
    ['two dots at the end', 'http://localhost../'],
    ['two dots behind an address', 'http://127.0.0.1../'],
    ['letters that are other ones to older parsers', 'http://fa\u00df.example.com/'],
  ])('have one reading only: %s', (_what, url) => {
    expect(() => rules(neverResolve).check(url)).toThrow();
    expect(() => rules(neverResolve, ['cdn.example.com:80']).check(url)).toThrow();
  });

  it('may hold at signs in their path, and any sign behind it', () => {
    const url = rules(neverResolve).check('https://cdn.example.com/a@b?c=\\@d#e\\f');
    expect(url.hostname).toBe('cdn.example.com');
  });

  it('may be what operators allow', async () => {
    const allowing = rules(neverResolve, ['media.local:9000']);
    const url = allowing.check('http://media.local:9000/x');
    expect(await allowing.checkNames([url])).toBeUndefined();
  });

  it.each<[string, readonly string[] | Error]>([
    ['leads to a private address', ['10.0.0.1']],
    ['leads to a private address too', ['8.8.8.8', '127.0.0.1']],
    ['leads nowhere', []],
    ['cannot be resolved', new Error('ENOTFOUND')],
  ])('are refused where a name %s', async (_what, found) => {
    const asked = rules(() => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found)));
    await expect(asked.checkNames([new URL('https://cdn.example.com/')])).rejects.toThrow(/not at a public address/);
  });

  it('are asked for once by name, and not without bound', async () => {
    const asked: string[] = [];
    const asking = rules((host) => {
      asked.push(host);
      return Promise.resolve(['8.8.8.8']);
    });
    await asking.checkNames([new URL('https://a.example/1'), new URL('https://a.example/2')]);
    expect(asked).toEqual(['a.example']);
    const many = Array.from({ length: 17 }, (_, index) => new URL(`https://h${index}.example/`));
    await expect(asking.checkNames(many)).rejects.toThrow(/at most 16 hosts/);
  });
});
