import type { Socket } from 'node:net';
import type { RequestHandler } from 'express';

/** The most requests that wait on one connection; no client sends so many ahead. */
const WAITING_MAX = 100;

/** What Node's parser is told of a request behind which no other follows. It stops there. */
const NOTHING_FOLLOWS = 2;

/** Node's parser of a connection, which its types leave out. */
interface ParsedSocket extends Socket {
  readonly parser?: { onIncoming: () => number } | null;
}

/**
 * Begins the requests that a client sends ahead on one connection (pipelining) one after the other, each when the answer
 * before it has left. Node begins all of them at once and keeps their answers in memory, however slowly they are read.
 * A connection on which more than 100 wait is closed.
 */
export function serializePipelined(): RequestHandler {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }, response, next) => {
    // Node gives an answer the connection when the answer before it has left.
    if (response.socket !== null) return next();
    const others = waiting.get(socket) ?? 0;
    if (others >= WAITING_MAX) return end(socket);
    waiting.set(socket, others + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      next();
    });
  };
}

/** A piece of 64 KiB holds some 2,500 requests, and Node makes all of them at once though the connection is closed meanwhile. */
function end(socket: ParsedSocket): void {
  if (socket.parser) socket.parser.onIncoming = () => NOTHING_FOLLOWS;
  socket.destroy();
}
