import { GatewayError } from '#contracts';

/** One event of a stream: the text of its `data:` lines. Its type, where it matters, stands inside the data as well. */
export type EventData = string;

/** What stands behind the last event at vendors of some protocols, and at servers that speak several behind that of all. */
export const DONE: EventData = '[DONE]';

/** Longest event an upstream may send, in bytes: an image of 20 MB as base64 fits. */
const MAX_EVENT_BYTES = 48 * 1024 * 1024;

/**
 * Where the last whole event of the bytes ends; -1 when none does. Lines may end in several ways within one stream, as where a
 * proxy adds some of its own, and also with a carriage return alone.
 */
function endOfLastEvent(bytes: Buffer): number {
  // As nearly every piece ends; searches cost far more, once a token.
  if (bytes.at(-1) === NEWLINE && bytes.at(-2) === NEWLINE) return bytes.length;
  const plain = bytes.lastIndexOf('\n\n');
  const windows = bytes.lastIndexOf('\n\r\n');
  if (plain !== -1 || windows !== -1) return Math.max(plain + 2, windows === -1 ? -1 : windows + 3);
  const old = bytes.lastIndexOf('\r\r');
  return old === -1 ? -1 : old + 2;
}

const NOTHING = Buffer.alloc(0);
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const BYTE_ORDER_MARK = 0xfeff;

/** Cuts a byte stream where events end, so that nothing half is ever passed on. */
export class EventSplitter {
  private pending: Buffer[] = [];
  private pendingBytes = 0;

  /**
   * Takes the next bytes and gives back all whole events; empty when none is complete yet.
   *
   * @throws GatewayError `upstream_error` when one event outgrows every sensible size.
   */
  push(chunk: Buffer): Buffer {
    if (this.pendingBytes === 0) return this.cut(chunk);
    // A blank line may straddle two chunks, so the search begins a little before the new bytes.
    const last = this.pending.pop() ?? NOTHING;
    const overlap = Math.min(3, last.length);
    const searched = Buffer.concat([last.subarray(last.length - overlap), chunk]);
    const end = endOfLastEvent(searched);
    const head = last.subarray(0, last.length - overlap);
    if (head.length > 0) this.pending.push(head);
    this.pendingBytes -= overlap;
    if (end === -1) {
      this.hold(searched);
      return NOTHING;
    }
    const whole = Buffer.concat([...this.pending, searched.subarray(0, end)]);
    this.pending = [];
    this.pendingBytes = 0;
    this.hold(searched.subarray(end));
    return whole;
  }

  /** What is left when the stream ended without a last blank line. */
  rest(): Buffer {
    return Buffer.concat(this.pending);
  }

  private cut(chunk: Buffer): Buffer {
    const end = endOfLastEvent(chunk);
    if (end === chunk.length) return chunk;
    this.hold(end === -1 ? chunk : chunk.subarray(end));
    return end === -1 ? NOTHING : chunk.subarray(0, end);
  }

  private hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.pending.push(bytes);
    this.pendingBytes += bytes.length;
    if (this.pendingBytes > MAX_EVENT_BYTES)
      throw new GatewayError('upstream_error', 'The upstream sent an event that is too large.');
  }
}

/** A stream may begin with the mark of its byte order. */
const beginning = (text: string): number => (text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0);

/** The data of each event in a text of whole events; events without data (comments, pings) are left out. */
export function eventData(sent: string): EventData[] {
  const text = sent.includes('\n') ? sent : sent.replaceAll('\r', '\n');
  const found: EventData[] = [];
  let data: string | undefined;
  for (let start = beginning(text); start < text.length;) {
    const newline = text.indexOf('\n', start);
    const next = newline === -1 ? text.length : newline + 1;
    const end = newline === -1 ? text.length : newline;
    const lineEnd = text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end;
    if (lineEnd <= start) {
      if (data) found.push(data);
      data = undefined;
    } else if (text.startsWith('data:', start)) {
      const value = text.slice(text.charCodeAt(start + 5) === SPACE ? start + 6 : start + 5, lineEnd);
      data = data === undefined ? value : `${data}\n${value}`;
    }
    start = next;
  }
  if (data) found.push(data);
  return found;
}
