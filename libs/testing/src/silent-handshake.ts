import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server that takes connections, agrees to speak TLS, and then says nothing. */
export interface SilentHandshake {
  readonly port: number;
  /** How many connections are open. */
  readonly connections: number;
  /** What clients sent, as Latin-1. The name of the server that a client wants is in it in plain letters. */
  readonly received: string;
  close(): Promise<void>;
}

/** How Postgres says that TLS may begin. */
const AGREED = 'S';
/** The length of the question of its clients. Those of other servers begin with the handshake itself, which is longer. */
const QUESTION_BYTES = 8;

/** Listens on a free port of this machine. */
export async function startSilentHandshake(): Promise<SilentHandshake> {
  const sockets = new Set<Socket>();
  let received = '';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => (received += bytes.toString('latin1')));
    socket.once('data', (bytes) => {
      if (bytes.length === QUESTION_BYTES) socket.write(AGREED);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sockets.size;
    },
    get received() {
      return received;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
