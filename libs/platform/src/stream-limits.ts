/** So many pieces are taken, however short they are. */
const PIECES_MAX = 4_096;

interface PieceBounds {
  /** How long pieces have to be on the average once there are very many, in bytes. */
  readonly leastBytes: number;
  /** How long pieces are counted together, in milliseconds. */
  readonly withinMs: number;
}

/** A server that streams tokens sends longer pieces. A heartbeat is shorter, but comes rarely. */
const REPLY: PieceBounds = { leastBytes: 32, withinMs: 1_000 };

/**
 * Counts the pieces that a body comes in. Each costs as much as a kilobyte, however short it is, and a sender of single bytes
 * has thousands of them in what is read at once.
 */
export class PieceCount {
  private pieces = 0;
  private bytes = 0;
  private sinceMs: number;

  constructor(
    private readonly bounds = REPLY,
    private readonly now = () => performance.now(),
  ) {
    this.sinceMs = now();
  }

  /** What a body does that has too many, for a sentence that begins with the body. */
  get fault(): string {
    const { leastBytes, withinMs } = this.bounds;
    const pieces = `arrives in more than ${PIECES_MAX} pieces of fewer than ${leastBytes} bytes on average`;
    return Number.isFinite(withinMs) ? `${pieces} within ${withinMs / 1_000} s` : pieces;
  }

  /** Takes note of a piece, and says whether it is one too many. */
  isTooMany(piece: Uint8Array): boolean {
    this.pieces += 1;
    this.bytes += piece.length;
    if (this.pieces <= PIECES_MAX || this.bytes >= this.pieces * this.bounds.leastBytes) return false;
    const now = this.now();
    if (now - this.sinceMs <= this.bounds.withinMs) return true;
    this.sinceMs = now;
    this.pieces = 0;
    this.bytes = 0;
    return false;
  }
}

/** Responses of status 1xx before the real one. Servers send one or two, and each restarts the wait for the next. */
const INTERIM_RESPONSES_MAX = 32;

export class InterimResponses {
  private count = 0;

  /** What a server does that sends too many, for a sentence that begins with it. */
  readonly fault = `sends more than ${INTERIM_RESPONSES_MAX} interim responses`;

  /** Takes note of one, and says whether it is one too many. */
  isTooMany(): boolean {
    return ++this.count > INTERIM_RESPONSES_MAX;
  }
}
