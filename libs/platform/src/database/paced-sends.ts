import type { Writable } from 'node:stream';
import { nextTurn, Turns } from '../clock/turns.js';

/** A parameter from this size on is sent in pieces, in bytes. */
const LARGE_BYTES = 256 * 1024;

/** How much is handed to the socket at once, in bytes: with TLS it is encrypted there and then. */
const PIECE_BYTES = 256 * 1024;

/** A long value of a statement, as the bytes of its text. They are sent one after the other and never put together. */
export class LongText {
  readonly byteLength: number;

  constructor(readonly pieces: readonly Buffer[]) {
    this.byteLength = pieces.reduce((sum, { length }) => sum + length, 0);
  }
}

export interface Binding {
  readonly portal?: string;
  readonly statement?: string;
  readonly binary?: boolean;
  readonly values?: readonly unknown[];
  readonly valueMapper?: (value: unknown, index: number) => unknown;
}

/** The methods of the driver's connection through which all that follows a statement is sent. */
export interface SendingConnection {
  readonly stream: Writable;
  _send(message: Buffer): unknown;
  bind(binding: Binding): void;
}

/**
 * Lets a connection send large parameters a piece at a time, while other work runs in between, and what comes after them
 * in its turn. The driver copies a parameter twice and hands all of it to the socket at once: 60 MB block all other work for 80
 * ms.
 */
export function sendInPieces(connection: SendingConnection): void {
  const send = connection._send.bind(connection);
  const bind = connection.bind.bind(connection);
  const waiting: Buffer[] = [];
  let isSending = false;

  const write = (piece: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      connection.stream.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  const drain = async (): Promise<void> => {
    const turns = new Turns();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      for (let from = 0; from < next.length; from += PIECE_BYTES) {
        await write(next.subarray(from, from + PIECE_BYTES));
        if (turns.isOver) await nextTurn(turns);
      }
    }
  };
  const begin = (): void => {
    isSending = true;
    // A connection that broke rejects the statements that wait for it; what was still to be sent is dropped.
    void drain()
      .catch(() => waiting.splice(0))
      .finally(() => (isSending = false));
  };
  Object.assign(connection, {
    _send: (message: Buffer) => (isSending ? waiting.push(message) : send(message)),
    bind: (binding: Binding) => {
      if (!hasLarge(binding)) return bind(binding);
      waiting.push(...bindMessage(binding));
      if (!isSending) begin();
    },
  });
}

const sizeOf = (value: unknown): number =>
  value instanceof LongText || Buffer.isBuffer(value) ? value.byteLength : typeof value === 'string' ? value.length : 0;

const hasLarge = ({ values = [] }: Binding): boolean =>
  values.some((value) => value instanceof LongText || sizeOf(value) >= LARGE_BYTES);

const TEXT_FORMAT = 0;
const BINARY_FORMAT = 1;

/** The message "Bind" of Postgres's protocol, in pieces. */
function bindMessage({ portal = '', statement = '', binary = false, values = [], valueMapper }: Binding): Buffer[] {
  const mapped = values.map((value, index) =>
    value instanceof LongText || !valueMapper ? value : valueMapper(value, index),
  );
  const formats = mapped.map((value) =>
    value instanceof LongText || Buffer.isBuffer(value) ? BINARY_FORMAT : TEXT_FORMAT,
  );
  const parts = [
    Buffer.from(`${portal}\0${statement}\0`),
    int16(formats.length),
    ...formats.map(int16),
    int16(mapped.length),
    ...mapped.flatMap(valueParts),
    int16(1),
    int16(binary ? BINARY_FORMAT : TEXT_FORMAT),
  ];
  const length = parts.reduce((sum, part) => sum + part.length, Int32Array.BYTES_PER_ELEMENT);
  return joinedSmall([Buffer.from('B'), int32(length), ...parts]);
}

function valueParts(value: unknown): Buffer[] {
  if (value === null || value === undefined) return [int32(-1)];
  if (value instanceof LongText) return [int32(value.byteLength), ...value.pieces];
  // The driver's mapper leaves nothing but texts and bytes.
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value as string);
  return [int32(bytes.length), bytes];
}

/** Neighbours that are small in one piece each, so that they do not become packets of their own. */
function joinedSmall(parts: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  let small: Buffer[] = [];
  let bytes = 0;
  for (const part of parts) {
    small.push(part);
    bytes += part.length;
    if (bytes < PIECE_BYTES / 4) continue;
    joined.push(small.length === 1 ? part : Buffer.concat(small));
    small = [];
    bytes = 0;
  }
  return small.length === 0 ? joined : [...joined, Buffer.concat(small)];
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
