import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import express, { type Request, type Response } from 'express';

/**
 * Serves one request whose client reads nothing of the answer, and settles as `answer` does. An answer that is longer than the
 * buffers between the two never comes to its end here: it has to give up by itself.
 */
export async function answerUnread<Result>(
  answer: (request: Request, response: Response) => Promise<Result>,
): Promise<Result> {
  let answered: Promise<Result> | undefined;
  const server = express()
    .get('/', (request, response) => void (answered = answer(request, response)))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  // The server resets the connection when it gives up.
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  try {
    await once(server, 'request');
    if (!answered) throw new Error('the request was not answered');
    return await answered;
  } finally {
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
}
