import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Database } from '#platform';
import { eventually, FaultProxy } from '#testing';
import { createGatewayPlace, type GatewayPlace, startTestGateway, TEST_KEY } from '../harness/test-gateway.js';

const TEXT = 'The lighthouse of Vesterholm was lit for the first time in 1871.';
const FORM =
  '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nassistants\r\n' +
  `--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${TEXT}`;
const END = '\r\n--b--\r\n';

describe('A stop of the process during an upload, its database 25 ms away', () => {
  let place: GatewayPlace;
  let proxy: FaultProxy;
  let database: Database;
  beforeEach(async () => {
    place = await createGatewayPlace();
    proxy = await FaultProxy.start(place.databaseUrl);
    database = new Database(place.databaseUrl);
  });
  afterEach(async () => {
    await database.close();
    await proxy.close();
    await place.remove();
  });

  const start = async () => {
    const gateway = await startTestGateway({ place, workers: false, databaseBehind: async (url) => proxy.urlOf(url) });
    proxy.set('far');
    return gateway;
  };

  function send(baseUrl: string, sent: string): Socket {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).resume();
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TEST_KEY}\r\ncontent-length: ${FORM.length + END.length}\r\n` +
        `content-type: multipart/form-data; boundary=b\r\n\r\n${sent}`,
    );
    return socket;
  }

  const count = async (from: string): Promise<number> =>
    (await database.query<{ count: number }>({ text: `select count(*)::integer as count from ${from}` })).rows[0]
      ?.count ?? -1;

  const stored = async (): Promise<number> =>
    (await readdir(join(place.dataDirectory, 'media'), { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    ).length;

  it('leaves no row and no byte of one that is half sent', async () => {
    const gateway = await start();
    send(gateway.baseUrl, FORM);
    await eventually(async () => (await count(`uploaded_file where state = 'uploading'`)) === 1);
    await gateway.stop(100);
    expect({ rows: await count('uploaded_file'), files: await stored() }).toEqual({ rows: 0, files: 0 });
  });

  it('keeps or forgets as a whole one that was sent and is not answered', async () => {
    const gateway = await start();
    await database.query({ text: `insert into file_usage (account_id) select id from account`, values: [] });
    let stopped: Promise<void> | undefined;
    await database.transaction(async (transaction) => {
      await transaction.query({ text: 'update file_usage set files = files', values: [] });
      const socket = send(gateway.baseUrl, FORM + END);
      const cut = once(socket, 'close');
      await eventually(
        async () => (await count(`pg_stat_activity where wait_event_type = 'Lock' and query like '%file_usage%'`)) > 0,
      );
      stopped = gateway.stop(100);
      await cut;
    });
    await stopped;
    const kept = await count(`uploaded_file where state = 'ready'`);
    expect({
      rows: await count('uploaded_file'),
      counted: await count('file_usage where files = 1 and bytes > 0'),
      files: await stored(),
    }).toEqual({
      rows: kept,
      counted: kept,
      files: kept,
    });
  });
});
