import { type ContractCase, guarantee } from './contract-case.js';
import type { ConnectedFake } from './connected-fake.js';
import type { FakeProtocol } from './fake-vendor.js';
import { testCall } from './test-call.js';

type Protocols = FakeProtocol & { readonly taken: readonly unknown[] };

const CALLBACK = 'https://gateway.example.com/callbacks/v1/vendor-1/token?a=1&b=2';

/** Cases 5, 35 and 42: defaults that are always sent, where files are fetched, where the vendor may call back. */
export function callingContract<Protocol extends Protocols>(
  { codec, order: body, alwaysSent }: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  if (Object.keys(alwaysSent).length > 0)
    guarantee('5: sends what the vendor would otherwise take for something else', async () => {
      const { start, vendor } = connected();
      await start(body);
      expect(vendor.requests[0]?.body).toMatchObject(alwaysSent);
    });

  guarantee('35: opens no link itself, and gives its key to no other host', async () => {
    const { upstream, vendor } = connected();
    const { open } = upstream;
    const signal = new AbortController().signal;
    const { host } = new URL(vendor.origin);
    const links = [
      'http://127.0.0.1:1/video.mp4',
      'https://169.254.169.254/',
      `https://${host}/video.mp4`,
      `http://${host}@169.254.169.254/`,
      `//169.254.169.254/${host}`,
      `\\\\169.254.169.254\\`,
      'file:///etc/passwd',
    ];
    for (const url of open ? links : [])
      expect(await open?.({ role: 'output', contentType: 'video/mp4', url }, { signal })).toEqual({ url });
    expect([open === undefined, vendor.requests]).toEqual([codec.fileAddress === undefined, []]);
  });

  if (codec.callback)
    guarantee('42: tells the vendor where it may call, and only where there is such an address', async () => {
      const { upstream, start, prepare, vendor } = connected();
      const { order, call } = prepare(body);
      await upstream.start(order, { ...testCall(order, call.ticket), callbackUrl: CALLBACK });
      await start(body);
      const calls = vendor.requests.map(({ query, body: sent }) =>
        [...query.values(), ...Object.values(sent)].includes(CALLBACK),
      );
      expect(calls).toEqual([true, false]);
    });
}
