import { GatewayError } from '#contracts';
import { PieceCount } from '#platform';
import { ReplyTooLarge } from '../../http/whole-reply.js';
import { brokenOff, parseReply } from './codec-failures.js';
import { DONE, eventData } from './server-sent-events.js';
import { REPLY_MS_MAX } from './upstream-http.js';

/** The longest stream, in bytes: a million tokens with what the dearest protocol says of each, or ten large images. */
const STREAM_BYTES_MAX = 512 * 1024 * 1024;

/** The most that may come without an event that says something; a comment each second takes a day for it. */
const EMPTY_BYTES_MAX = 1024 * 1024;

/** An event with something in its data. Looked for over the bytes as text. */
const SAYS_SOMETHING = /(?:^|\n|\r)data: ?(?!\{\}\s)[^\s]/;

/** Ends a stream whose vendor sends without end: events, or what keeps a connection open and carries nothing. */
export class StreamBounds {
  private readonly begunMs: number;
  private readonly pieces: PieceCount;
  private bytes = 0;
  private emptyBytes = 0;
  private hasBegun = false;

  constructor(private readonly now = () => performance.now()) {
    this.begunMs = now();
    this.pieces = new PieceCount(undefined, now);
  }

  /**
   * Counts what came.
   *
   * @throws GatewayError `upstream_error` where it is too much, `upstream_timeout` where the stream is too old.
   */
  count(bytes: Buffer): void {
    this.bytes += bytes.length;
    if (this.bytes > STREAM_BYTES_MAX) throw new ReplyTooLarge();
    if (this.pieces.isTooMany(bytes)) throw new ReplyTooLarge(undefined, this.pieces.fault);
    if (this.now() - this.begunMs > REPLY_MS_MAX)
      throw new GatewayError('upstream_timeout', 'The upstream took too long.');
  }

  /** Takes note of whole events. @throws GatewayError `upstream_error` where too much of them said nothing, or nothing but the end came. */
  see(events: Buffer): void {
    if (!this.hasBegun) this.begin(events.toString('latin1'));
    this.emptyBytes += events.length;
    // Looked at once in a while alone: most events say something.
    if (this.emptyBytes < EMPTY_BYTES_MAX) return;
    if (!SAYS_SOMETHING.test(events.toString('latin1')))
      throw new GatewayError('upstream_error', 'The upstream sent much that says nothing.');
    this.emptyBytes = 0;
  }

  private begin(events: string): void {
    const first = SAYS_SOMETHING.exec(events);
    if (first && events.startsWith(DONE, first.index + first[0].length - 1)) throw brokenOff();
    this.hasBegun = first !== null;
  }
}

const COMMENT = /^:/m;

/**
 * Whether the stream has begun: with any event, or with one that holds the mark.
 *
 * @throws GatewayError `upstream_error` where it begins with what is part of no protocol.
 */
export function begins(frames: Buffer, mark?: RegExp): boolean {
  const text = frames.toString('utf8');
  const [first] = eventData(text);
  if (first !== undefined && first !== DONE) parseReply(first);
  return first === undefined ? COMMENT.test(text) : (mark?.test(text) ?? true);
}

const NOTHING = Buffer.alloc(0);
const END_OF_EVENT = Buffer.from('\n\n');

/** What a stream ended with behind its last blank line, as events; nothing where it was cut off within one. */
export function wholeEvents(rest: Buffer): Buffer {
  try {
    return begins(rest) ? Buffer.concat([rest, END_OF_EVENT]) : NOTHING;
  } catch {
    return NOTHING;
  }
}
