import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Request, Response } from 'express';
import { eventually } from '#testing';
import { serializePipelined } from './serialize-pipelined.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: gateway\r\n\r\n';

describe('Requests sent ahead on one connection', () => {
  const begun: ServerResponse[] = [];
  let read = 0;
  const handle = serializePipelined();
  const server = createServer((request, response) => {
    read += 1;
    void handle(request as Request, response as Response, () => begun.push(response));
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => void begun.splice(0));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const opened = () => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);

  it('are begun one after the other, in their order, and beside those of other connections', async () => {
    const [first, other] = [opened(), opened()];
    let answers = '';
    first.on('data', (data: Buffer) => (answers += data.toString()));
    first.write(REQUEST.repeat(3));
    await eventually(() => begun.length === 1);
    other.write(REQUEST);
    await eventually(() => begun.length === 2);
    begun[0]?.end('one');
    await eventually(() => begun.length === 3);
    begun[2]?.end('two');
    await eventually(() => begun.length === 4);
    begun[3]?.end('three');
    await eventually(() => answers.includes('three'));
    expect(answers.match(/one|two|three/g)).toEqual(['one', 'two', 'three']);
    first.write(REQUEST);
    await eventually(() => begun.length === 5);
    first.destroy();
    other.destroy();
  });

  it('end with their connection when there are very many of them, and none of them is begun or read any further', async () => {
    const before = read;
    const many = opened();
    many.write(REQUEST.repeat(1_500));
    await once(many, 'close');
    expect(begun).toHaveLength(1);
    expect(read - before).toBeLessThan(110);
    const another = opened();
    another.write(REQUEST);
    await eventually(() => begun.length === 2);
    another.destroy();
  });
});
