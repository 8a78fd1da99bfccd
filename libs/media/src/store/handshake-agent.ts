import { Agent, type AgentOptions } from 'node:https';

/**
 * Makes TLS connections whose handshake has an end too: the limits of the store's client stop at the connection beneath,
 * and then leave the waiting call to the limit of silence, once for each try.
 */
export class HandshakeAgent extends Agent {
  /** @param limitMs the longest time for a connection, from its beginning to the end of its handshake, in milliseconds. */
  constructor(
    private readonly limitMs: number,
    options: AgentOptions,
  ) {
    super(options);
  }

  override createConnection(...how: Parameters<Agent['createConnection']>): ReturnType<Agent['createConnection']> {
    const socket = super.createConnection(...how);
    if (!socket) return socket;
    const late = (): void => void socket.destroy(new Error(`no TLS handshake within ${this.limitMs} ms`));
    const timer = setTimeout(late, this.limitMs);
    const over = (): void => clearTimeout(timer);
    return socket.once('secureConnect', over).once('close', over);
  }
}
