import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { JsonObject, TaskView } from '#contracts';
import { isoBox, memoryRise, movieSample, mp4Brands, videoSample } from '#testing';
import { FakeGoogleTokens, FakeVertex } from '#vendor-fakes';
import {
  createGatewayPlace,
  type GatewayPlace,
  startTestGateway,
  type TestGateway,
} from '../../harness/test-gateway.js';

const VIDEOS = '/v1/videos/generations';
const IN_BUCKET = { model: 'gamma-3.1-fast-official', prompt: 'a paper boat', duration: 4 };
const INLINE = { ...IN_BUCKET, model: 'gamma-3.1-quality-official' };
const LARGE_MODEL = 'veo-3.1-generate-001';
const MEGABYTE = 1024 * 1024;
/** A piece of a video whose digits need no padding. */
const PIECE = Buffer.alloc(3 * MEGABYTE);
/** The digits of such a video are 200 MB. */
const LARGE_BYTES = 50 * PIECE.length;
/** What of it may be held at a time. */
const ALLOWED_BYTES = 64 * MEGABYTE;

/** A vendor's API and bucket behind one address; everything needs the token. */
class FakeGoogle {
  /** Requests for objects of the bucket. */
  readonly asked: string[] = [];
  /** How many of them are answered as if the bucket was away. */
  awayFor = 0;
  private readonly server: Server;

  private constructor(private readonly vertex: FakeVertex) {
    this.server = createServer((request, response) => {
      void this.answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(vertex: FakeVertex): Promise<FakeGoogle> {
    const google = new FakeGoogle(vertex);
    google.server.listen(0, '127.0.0.1');
    await once(google.server, 'listening');
    return google;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    if (headers.authorization !== this.vertex.keyHeader.value) return void response.writeHead(403).end();
    if (path.startsWith('/storage/')) return this.deliver(path, response);
    const body = JSON.parse(await text(request)) as JsonObject;
    const reply = this.vertex.answer({ method, path, query: new URLSearchParams(), headers, body });
    if (path.endsWith(':fetchPredictOperation') && path.includes(LARGE_MODEL)) return sendLargeReply(response);
    response.writeHead(reply.status ?? 200).end(JSON.stringify(reply.body));
  }

  private deliver(path: string, response: ServerResponse): void {
    this.asked.push(path);
    if (this.awayFor === 0) return void response.end(videoSample());
    this.awayFor -= 1;
    response.writeHead(503).end();
  }
}

/** One video of many megabytes as the digits of a JSON text, made while it is sent. */
async function sendLargeReply(response: ServerResponse): Promise<void> {
  const header = Buffer.concat([mp4Brands(), movieSample()]);
  const data = isoBox('mdat', Buffer.alloc(3)).subarray(0, 8);
  data.writeUInt32BE(LARGE_BYTES + 8, 0);
  const before = Buffer.concat([header, isoBox('free', Buffer.alloc(3 - ((header.length + 16) % 3))), data]);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(
    `{"done":true,"response":{"videos":[{"mimeType":"video/mp4","bytesBase64Encoded":"${before.toString('base64')}`,
  );
  const digits = PIECE.toString('base64');
  for (let sent = 0; sent < LARGE_BYTES; sent += PIECE.length)
    if (!response.write(digits)) await once(response, 'drain');
  response.end('"}]}}');
}

describe('A gateway that sells videos of Veo', () => {
  const vertex = new FakeVertex();
  let tokens: FakeGoogleTokens;
  let google: FakeGoogle;
  let place: GatewayPlace;
  let gateway: TestGateway;

  beforeAll(async () => {
    tokens = await FakeGoogleTokens.start(vertex.key);
    google = await FakeGoogle.start(vertex);
    place = await createGatewayPlace();
    const account = join(place.dataDirectory, 'service-account.json');
    await writeFile(account, Buffer.from(tokens.key, 'base64'));
    const veo = { protocol: 'vertex-veo', base_url: `http://${google.host}`, service_account_file: account };
    const entries = [
      {
        ...veo,
        id: 'veo-bucket',
        models: { [IN_BUCKET.model]: 'veo-3.1-fast-generate-001' },
        settings: { storage_uri: 'gs://videos/veo/', storage_endpoint: `http://${google.host}` },
      },
      { ...veo, id: 'veo-inline', models: { [INLINE.model]: LARGE_MODEL } },
    ];
    const file = join(place.dataDirectory, 'upstreams.yaml');
    await writeFile(file, JSON.stringify({ media_upstreams: entries }));
    const allowed = [google.host, new URL(tokens.uri).host].join(',');
    gateway = await startTestGateway({ place, environment: { UPSTREAMS_FILE: file, MEDIA_FETCH_ALLOW: allowed } });
  });
  afterAll(async () => {
    await gateway.stop();
    await place.remove();
    google.close();
    await tokens.close();
  });
  beforeEach(() => vertex.reset());

  /** What becomes of an order of a vendor that is asked after many seconds, which go by at once. */
  async function outcomeOf(order: object): Promise<TaskView> {
    const taskId = await gateway.submit(VIDEOS, order);
    const hasten = setInterval(() => {
      void gateway.database.query({ text: 'update task_poll set next_poll_at = now() where polls = 0' });
      void gateway.database.query({
        text: `update task set lease_until = now() where lease_owner is null and lease_until > now() and state = 'storing'`,
      });
    }, 50);
    return gateway.waitForTask(taskId).finally(() => clearInterval(hasten));
  }

  it('hands over a video from the bucket, which is read with the token of the service account', async () => {
    google.awayFor = 2;
    const task = await outcomeOf({ ...IN_BUCKET, sample_count: 2 });
    expect(task).toMatchObject({ status: 'completed', usage: { quantity: 8 } });
    expect(task.result?.videos).toHaveLength(2);
    expect(new Set(google.asked)).toEqual(
      new Set([0, 1].map((index) => `/storage/v1/b/videos/o/veo%2F123%2Fsample_${index}.mp4?alt=media`)),
    );
    for (const { url } of task.result?.videos ?? [])
      expect(Buffer.from(await (await fetch(url ?? '')).arrayBuffer())).toEqual(videoSample());
  });

  it('hands over a video that stands in a reply of 200 MB, of which little is in memory at a time', async () => {
    const { result: task, bytes } = await memoryRise(ALLOWED_BYTES, () => outcomeOf(INLINE));
    expect(task).toMatchObject({ status: 'completed', usage: { quantity: 4 } });
    const [video] = task.result?.videos ?? [];
    expect(video?.bytes).toBeGreaterThan(LARGE_BYTES);
    expect(bytes).toBeLessThan(ALLOWED_BYTES);
    expect(vertex.taken).toHaveLength(2);
  });
});
