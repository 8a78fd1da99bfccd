import { connect, type Socket } from 'node:net';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

/** Far more than the buffers between a vendor and a client that reads nothing. */
const LONG_TEXT = 'word '.repeat(1_200_000);

describe('A client that reads nothing', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway(
      { TEXT_WRITE_STALL_SECONDS: '1', DISCONNECT_DRAIN_MB: '64', DISCONNECT_DRAIN_SECONDS: '20' },
      { idleSeconds: 30 },
    );
    await gateway.database.query({ text: 'update account set available_micros = 1000000000' });
  });
  afterAll(() => gateway.stop());

  it('is cut off after a while and pays what the upstream reports', async () => {
    const body = JSON.stringify({ model: MODEL_OVER.responses, input: LONG_TEXT, stream: true, store: false });
    const { hostname, port } = new URL(gateway.baseUrl);
    const socket: Socket = connect(Number(port), hostname);
    let isClosed = false;
    socket.on('error', () => {}).on('close', () => (isClosed = true));
    socket.pause();
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const record = await eventually(async () => {
      const { rows } = await gateway.database.query<{ status: string; output: bigint; amount: bigint }>({
        text: 'select status, output_tokens as output, amount_micros as amount from usage_record',
      });
      return rows[0];
    });
    expect(record).toMatchObject({ status: 'cancelled', output: 7n });
    expect(record.amount).toBeGreaterThan(0n);
    // The end of the connection shows behind what was buffered.
    socket.resume();
    await eventually(() => isClosed);
  });
});
