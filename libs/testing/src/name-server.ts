import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server } from 'node:net';

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;

/** What a test's name server says about a name. */
export interface NameAnswer {
  /** IPv4 and IPv6 addresses. */
  readonly addresses?: readonly string[];
  /** Names it is said to stand for, as records `[name, canonical name]`. */
  readonly aliases?: readonly (readonly [string, string])[];
  /** Seconds; default 0. */
  readonly ttl?: number;
  /** Says over UDP that the answer is too long for it, and gives the whole over TCP, or never. */
  readonly truncated?: 'then whole' | 'then silent';
  /** The type of address about which it never answers. */
  readonly silentFor?: keyof typeof TYPES;
}

export interface TestNameServer {
  /** `address:port`. */
  readonly address: string;
  /** The names it was asked for so far, one entry for each question of either type. */
  readonly asked: string[];
  close(): void;
}

/** What a test's name server says about a name: null is "no such name", `silent` nothing at all. */
type Said = NameAnswer | null | 'silent';

/** A real name server on UDP and TCP. `answer` tells what it says, and may take its time. */
export async function startNameServer(answer: (name: string) => Said | Promise<Said>): Promise<TestNameServer> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const respond = async (data: Buffer): Promise<void> => {
      const reply = await replyTo(data.subarray(2), answer, [], true);
      if (reply) socket.end(Buffer.concat([number16(reply.length), reply]));
    };
    socket.on('data', (data) => void respond(data));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = createSocket('udp4');
  const respond = async (query: Buffer, from: RemoteInfo): Promise<void> => {
    const reply = await replyTo(query, answer, asked, false);
    if (reply) socket.send(reply, from.port, from.address);
  };
  socket.on('message', (query, from) => void respond(query, from));
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${port}`, asked, close: () => closeBoth(socket, server) };
}

function closeBoth(socket: Socket, server: Server): void {
  socket.close();
  server.close();
}

async function replyTo(
  query: Buffer,
  answerOf: (name: string) => Said | Promise<Said>,
  asked: string[],
  isTcp: boolean,
): Promise<Buffer | null> {
  const { name, type, end } = question(query);
  asked.push(name);
  const answer = await answerOf(name);
  if (answer === 'silent' || (answer?.silentFor && TYPES[answer.silentFor] === type)) return null;
  if (isTcp && answer?.truncated === 'then silent') return null;
  return encode(query.subarray(0, 2), query.subarray(12, end), answer, type, !isTcp && answer?.truncated !== undefined);
}

function encode(id: Buffer, asked: Buffer, answer: NameAnswer | null, type: number, isCut: boolean): Buffer {
  const records = isCut || !answer ? [] : recordsOf(answer, type);
  const flags = number16(0x8180 | (isCut ? 0x0200 : 0) | (answer ? 0 : 3));
  const counts = [1, records.length, 0, 0].map(number16);
  return Buffer.concat([id, flags, ...counts, asked, ...records]);
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Addresses belong to the name asked for, or to the last alias. */
function recordsOf({ addresses = [], aliases = [], ttl = 0 }: NameAnswer, type: number): Buffer[] {
  const asked = Buffer.from([0xc0, 12]);
  const lastAlias = aliases.at(-1)?.[1];
  const owner = lastAlias === undefined ? asked : encodeName(lastAlias);
  const matching = addresses.filter((address) => (isIPv6(address) ? TYPES.AAAA : TYPES.A) === type);
  return [
    ...aliases.map(([from, to]) => record(encodeName(from), TYPES.CNAME, ttl, encodeName(to))),
    ...matching.map((address) => record(owner, type, ttl, addressBytes(address))),
  ];
}

const record = (owner: Buffer, type: number, ttl: number, data: Buffer): Buffer =>
  Buffer.concat([owner, ...[type, 1, 0, ttl, data.length].map(number16), data]);

const number16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.from([0]),
  ]);

/** IPv6 addresses are written out in eight groups, or with one `::`. */
function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string | undefined): number[] =>
    text ? text.split(':').map((group) => parseInt(group, 16)) : [];
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.concat([...before, ...(tail === undefined ? [] : zeros), ...after].map(number16));
}
