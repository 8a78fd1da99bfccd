import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import type { ServerNames } from '../names/server-names.js';

/** Where the client connects to, as its options say it. */
interface Place {
  readonly host?: string;
  readonly port?: number;
  readonly disconnectTimeout?: number;
  readonly tls?: ConnectionOptions;
}

/** What connects to a Redis of its own by name; the client's own connector asks the system, on a thread that may be held. */
export function connectorBy({ lookup }: ServerNames) {
  return class ServerConnector extends AbstractConnector {
    readonly #place: Place;

    constructor(options: unknown) {
      const place = options as Place;
      super(place.disconnectTimeout ?? 0);
      this.#place = place;
    }

    override async connect(): Promise<Socket> {
      const { host = 'localhost', port = 6379, tls } = this.#place;
      this.connecting = true;
      // The client may be asked to disconnect before it has connected.
      await Promise.resolve();
      if (!this.connecting) throw new Error('Connection is closed.');
      const socket = tls ? connectSecurely({ host, port, lookup, ...tls }) : connectPlain({ host, port, lookup });
      this.stream = socket;
      socket.once('error', (error) => (this.firstError = error));
      return socket;
    }
  };
}
