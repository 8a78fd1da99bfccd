import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import type { Request, Response } from 'express';
import { ExpressServer } from './express-server.js';

setFlagsFromString('--allow-natives-syntax');
/** Whether V8 keeps two objects under one shape, so that code that has seen the one knows where to look in the other. */
const haveSameShape = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean;

describe('ExpressServer', () => {
  let server: ExpressServer;
  let http: Server;
  let url: string;
  beforeEach(async () => {
    server = new ExpressServer(undefined);
    server.initHttpServer();
    http = server.getHttpServer();
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    http.closeAllConnections();
    http.close();
    await once(http, 'close');
  });

  it('keeps the hidden classes of requests and responses stable when properties are added', async () => {
    const held: { request: Request; answer: Response }[] = [];
    server.use((request: Request, answer: Response) => {
      Object.assign(request, { added: 1 });
      Object.assign(answer, { added: 1 });
      answer.setHeader('x-one', '1');
      held.push({ request, answer });
      const [one, other] = held;
      if (!one || !other) return;
      const same = [haveSameShape(one.request, other.request), haveSameShape(one.answer, other.answer)];
      for (const { answer: open } of held) open.json(same);
    });
    const answers = await Promise.all(['/a', '/b'].map(async (path) => (await fetch(url + path)).json()));
    expect(answers).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it('gives requests and responses the methods of Express', async () => {
    server.use((request: Request, answer: Response) => answer.status(201).json([request.path, request.query['a']]));
    const answer = await fetch(`${url}/there?a=b`);
    expect([answer.status, await answer.json()]).toEqual([201, ['/there', 'b']]);
  });
});
