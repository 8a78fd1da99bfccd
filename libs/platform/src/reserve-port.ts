import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { NamedError } from './named-error.js';

/** Where to listen, and which variables say so. */
export interface PortSettings {
  readonly port: number;
  readonly host: string;
  readonly portVariable: string;
  readonly hostVariable: string;
}

/** An address that is ours from now on, although nothing serves on it yet. */
export interface ReservedPort {
  /** The one the system chose when 0 was requested. */
  readonly port: number;
  /** Lets `server` listen in its place; it also gets the connections that came before. */
  handTo(server: Server): void;
  /** Gives the address back; does nothing after `handTo`. */
  close(): void;
}

/** The address cannot be listened on; the message is one line that an operator can act on. */
export class PortError extends NamedError {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/**
 * Listens before anything is stored, so that a port that is taken costs nothing: neither a database nor a key that was never
 * shown. A client that connects before the start is complete waits for it.
 *
 * @throws PortError when the address cannot be had.
 */
export async function reservePort(settings: PortSettings): Promise<ReservedPort> {
  const early: Socket[] = [];
  const placeholder = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined);
    early.push(socket);
  });
  placeholder.listen(settings.port, settings.host);
  try {
    await once(placeholder, 'listening');
  } catch (error) {
    throw new PortError(explain(error, settings), error);
  }
  const { port } = placeholder.address() as AddressInfo;
  let isHandedOver = false;
  return {
    port,
    handTo: (server) => {
      isHandedOver = true;
      server.listen(placeholder);
      for (const socket of early.splice(0)) if (!socket.destroyed) server.emit('connection', socket.resume());
    },
    close: () => {
      if (isHandedOver) return;
      placeholder.close();
      for (const socket of early) socket.destroy();
    },
  };
}

function explain(error: unknown, { port, host, portVariable, hostVariable }: PortSettings): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `${portVariable} is already in use: choose another with ${portVariable}=..., or stop what listens on ${port}.`;
    case 'EACCES':
      return `${portVariable} ${port} is not allowed for this user: choose one above 1023.`;
    case 'EADDRNOTAVAIL':
      return `${hostVariable} ${host} is not an address of this machine: use 127.0.0.1 for this machine only, or 0.0.0.0 for every network.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostVariable} ${host} is not known: give an address such as 127.0.0.1 or 0.0.0.0.`;
    default:
      return `${hostVariable} ${host} and ${portVariable} ${port} cannot be listened on: ${error instanceof Error ? error.message : String(error)}`;
  }
}
