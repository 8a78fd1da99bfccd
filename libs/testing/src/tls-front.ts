import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { writeCertificates } from './redis-tls.js';

/** A server that is reached over TLS, with a certificate that nobody trusts. */
export interface TlsFront {
  /** Begins with `https:`. */
  readonly url: string;
  close(): void;
}

/** Ends TLS in front of the server of `url`; undefined when there is no `openssl`. */
export async function startTlsFront(url: string): Promise<TlsFront | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tls-front-'));
  const isWritten = writeCertificates(folder);
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  const server = isWritten ? createServer({ key: read('server.key'), cert: read('server.crt') }) : undefined;
  rmSync(folder, { recursive: true, force: true });
  if (!server) return undefined;
  const { hostname, port } = new URL(url);
  server.on('secureConnection', (client) => {
    const behind = connect(Number(port), hostname);
    client.pipe(behind).pipe(client);
    client.on('error', () => behind.destroy()).on('close', () => behind.destroy());
    behind.on('error', () => client.destroy());
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close(),
  };
}
