import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP writes it. */
interface ExportedSpan {
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A histogram as OTLP writes it. */
interface ExportedMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly count: number;
      readonly sum: number;
      readonly explicitBounds: readonly number[];
      readonly attributes: ExportedSpan['attributes'];
    }[];
  };
}

/** A collector of traces and metrics. */
export interface TraceCollector {
  readonly url: string;
  /** Every span it was sent, in the order of arrival. */
  readonly spans: readonly ExportedSpan[];
  /** Every metric it was sent; sums are those since the start. */
  readonly metrics: readonly ExportedMetric[];
  /** The same as it came: whole bodies. */
  readonly sent: readonly string[];
  /** Their media types. */
  readonly types: readonly (string | undefined)[];
  close(): void;
}

/** What a collector is sent: of traces the first, of metrics the second. */
interface Exported {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: ExportedSpan[] }[] }[];
  readonly resourceMetrics?: readonly { readonly scopeMetrics: readonly { readonly metrics: ExportedMetric[] }[] }[];
}

/** Starts a collector that takes OTLP over HTTP, as JSON and as protobuf, and remembers spans and metrics. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ExportedSpan[] = [];
  const metrics: ExportedMetric[] = [];
  const sent: string[] = [];
  const types: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const type = request.headers['content-type'];
      const body = bodyOf(bytes, type, MESSAGES[request.url ?? '']);
      if (!body) {
        response.writeHead(415).end();
        return;
      }
      sent.push(bytes.toString());
      types.push(type);
      spans.push(...(body.resourceSpans ?? []).flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      for (const { scopeMetrics } of body.resourceMetrics ?? [])
        metrics.push(...scopeMetrics.flatMap((scope) => scope.metrics));
      response.writeHead(200, { 'content-type': type }).end(type === JSON_TYPE ? '{}' : '');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, metrics, sent, types, close: () => server.close() };
}

const JSON_TYPE = 'application/json';

/** Undefined for what no collector takes. */
function bodyOf(bytes: Buffer, type: string | undefined, message: Message | undefined): Exported | undefined {
  if (message && type === JSON_TYPE) return JSON.parse(bytes.toString()) as Exported;
  return message && type === 'application/x-protobuf' ? decoded(bytes, message) : undefined;
}

type Scalar = 'text' | 'hex' | 'whole' | 'fixed64' | 'double' | 'bool';

/** A field: its name in JSON, what it holds, and whether there may be many. */
type Field = readonly [name: string, holds: Scalar | Message, many?: 'many'];

/** The fields of a message by their numbers; those that no test looks at are left out. */
type Message = () => Readonly<Record<number, Field>>;

/** Numbers and types of opentelemetry-proto 1: written down apart from the sender's library, which is to be proven. */
const ANY: Message = () => ({
  1: ['stringValue', 'text'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'whole'],
  4: ['doubleValue', 'double'],
  5: ['arrayValue', () => ({ 1: ['values', ANY, 'many'] })],
});
const KEY_VALUE: Message = () => ({ 1: ['key', 'text'], 2: ['value', ANY] });
const STATUS: Message = () => ({ 2: ['message', 'text'], 3: ['code', 'whole'] });
const SPAN: Message = () => ({
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'whole'],
  7: ['startTimeUnixNano', 'fixed64'],
  8: ['endTimeUnixNano', 'fixed64'],
  9: ['attributes', KEY_VALUE, 'many'],
  15: ['status', STATUS],
});
const POINT: Message = () => ({
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['bucketCounts', 'fixed64', 'many'],
  7: ['explicitBounds', 'double', 'many'],
  9: ['attributes', KEY_VALUE, 'many'],
});
const METRIC: Message = () => ({
  1: ['name', 'text'],
  3: ['unit', 'text'],
  9: ['histogram', () => ({ 1: ['dataPoints', POINT, 'many'] })],
});
const within = (scopes: string, of: string, message: Message): Message => {
  const scope: Message = () => ({ 2: [of, message, 'many'] });
  return () => ({ 2: [scopes, scope, 'many'] });
};
const MESSAGES: Readonly<Record<string, Message>> = {
  '/v1/traces': () => ({ 1: ['resourceSpans', within('scopeSpans', 'spans', SPAN), 'many'] }),
  '/v1/metrics': () => ({ 1: ['resourceMetrics', within('scopeMetrics', 'metrics', METRIC), 'many'] }),
};

const WIRE = { varint: 0, eight: 1, bytes: 2, four: 5 } as const;
const WIRE_OF: Readonly<Record<Scalar, number>> = {
  text: WIRE.bytes,
  hex: WIRE.bytes,
  whole: WIRE.varint,
  bool: WIRE.varint,
  fixed64: WIRE.eight,
  double: WIRE.eight,
};

/** A message as JSON has it. @throws where it is cut off, or a field is of another type than it has to be. */
function decoded(bytes: Buffer, message: Message): Record<string, unknown> {
  const fields = message();
  const read: Record<string, unknown> = {};
  for (const [name, , many] of Object.values(fields)) if (many) read[name] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
  };
  const valueBytes = (wire: number): Buffer => {
    const length = wire === WIRE.bytes ? varint() : wire === WIRE.eight ? 8 : wire === WIRE.four ? 4 : undefined;
    const start = at;
    if (length !== undefined) at += length;
    else if (wire === WIRE.varint) varint();
    else throw new Error(`Protobuf has no wire type ${wire}`);
    if (at > bytes.length) throw new Error('A protobuf message is cut off');
    return bytes.subarray(start, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, wire] = [tag >>> 3, tag & 7];
    const value = valueBytes(wire);
    const field = fields[number];
    if (!field) continue;
    const [name, holds, many] = field;
    const values = valuesOf(value, wire, holds, many !== undefined, name);
    if (many) (read[name] as unknown[]).push(...values);
    else [read[name]] = values;
  }
  return read;
}

/** The value of a field, or the numbers that are packed in one. */
function valuesOf(bytes: Buffer, wire: number, holds: Scalar | Message, many: boolean, name: string): unknown[] {
  const wanted = typeof holds === 'function' ? WIRE.bytes : WIRE_OF[holds];
  const isPacked = many && wanted === WIRE.eight && wire === WIRE.bytes;
  if (wire !== wanted && !isPacked) throw new Error(`${name} has wire type ${wire}, not ${wanted}`);
  if (typeof holds === 'function') return [decoded(bytes, holds)];
  if (holds === 'text') return [bytes.toString()];
  if (holds === 'hex') return [bytes.toString('hex')];
  if (wanted === WIRE.varint) {
    const whole = bytes.reduce((sum, byte, index) => sum + (byte & 0x7f) * 128 ** index, 0);
    return [holds === 'bool' ? whole !== 0 : whole];
  }
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += 8)
    numbers.push(holds === 'double' ? bytes.readDoubleLE(at) : Number(bytes.readBigUInt64LE(at)));
  return numbers;
}
