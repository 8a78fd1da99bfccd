import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { type FinishReason, GatewayError, type JsonObject, type RelayOutcome, type TextUsage } from '#contracts';
import { brokenOff, parseReply } from './codec-failures.js';
import type { ProtocolCodec, ReadProduced, StreamDecoder } from './protocol-codec.js';
import { DONE, eventData } from './server-sent-events.js';
import { withoutCharges } from './without-charges.js';

/**
 * Watches a stream that passes through. Only the events that say how it ended are parsed; the others are kept for a
 * while, in case the stream breaks before the upstream reports its usage and what was produced must be counted.
 */
export class RelayTap {
  private readonly ending: StreamDecoder;
  private readonly producedBy: ReadProduced;
  private readonly held = new HeldEvents((events) => this.readProduced(events));
  private first: Buffer | undefined;
  /** For each of the marks. */
  private latest: (Buffer | undefined)[] = [];
  private seenAnswer: JsonObject | undefined;
  private produced = '';
  private seenFailure: GatewayError | undefined;
  private isOver = false;
  private isDone = false;
  /** Whether there is a reply, in a protocol where an event may come without one. */
  private hasBegun = false;
  /** Why the reply ended; undefined while it did not. */
  finishReason: FinishReason | undefined;

  constructor(private readonly codec: ProtocolCodec) {
    this.ending = codec.decoder();
    this.producedBy = codec.producedReader();
  }

  /** Takes note of whole events on their way to the caller. */
  see(events: Buffer): void {
    const { decode, latest, begins } = this.codec.marks;
    // One expression over the bytes as they are: a look into a buffer for each mark took ten times as long.
    const text = events.toString('latin1');
    this.held.hold(events);
    this.hasBegun ||= begins?.test(text) ?? false;
    if (decode.test(text)) this.decodeMarked(events);
    for (const [place, mark] of latest?.entries() ?? [])
      if (mark.test(text)) {
        this.first ??= events;
        this.latest[place] = events;
      }
  }

  /** @throws GatewayError `upstream_error` when the stream ended before the protocol's own end. */
  end(): void {
    if (this.seenFailure) return;
    this.readLatest();
    this.finishReason = this.reasonOfEnd();
    this.isOver = true;
  }

  get failure(): GatewayError | undefined {
    return this.seenFailure;
  }

  /** The native object of the finished reply as a caller may see it, where the protocol sends one. */
  get answer(): JsonObject | undefined {
    return this.seenAnswer;
  }

  reportedUsage(): TextUsage | undefined {
    try {
      this.readLatest();
    } catch {
      // The usage of an event is read before its failure, which reaches the caller by itself.
    }
    return this.ending.reportedUsage();
  }

  /** `produced` is left out only where a whole reply reported its output, so that nothing needs to be counted. */
  outcome(): RelayOutcome {
    const usage = this.reportedUsage();
    const tellsOutput = this.isOver && usage !== undefined && usage.outputTokens > 0;
    if (!tellsOutput) this.held.readAll();
    const isEmpty = this.codec.marks.begins !== undefined && !this.hasBegun && this.produced === '';
    const produced = tellsOutput ? '' : this.produced;
    return { usage, produced, failure: this.seenFailure, ...(isEmpty && { isEmpty }) };
  }

  words(): string {
    this.held.readAll();
    return this.produced;
  }

  /** Some servers end what they said with the word of one protocol alone, without a reason. */
  private reasonOfEnd(): FinishReason {
    try {
      const finish = this.ending.end().find((event) => event.type === 'finish');
      if (!finish) throw brokenOff();
      return finish.reason;
    } catch (error) {
      this.held.readAll();
      if (!this.isDone || (!this.hasBegun && this.produced === '')) throw error;
      return 'stop';
    }
  }

  private readLatest(): void {
    if (!this.first) return;
    const marked = new Set([this.first, ...this.latest]);
    this.first = undefined;
    this.latest = [];
    for (const events of marked) for (const data of eventData(events?.toString('utf8') ?? '')) this.ending.push(data);
  }

  private decodeMarked(events: Buffer): void {
    const { decode } = this.codec.marks;
    for (const data of eventData(events.toString('utf8'))) {
      if (!decode.test(data)) continue;
      try {
        this.ending.push(data);
      } catch (error) {
        // The upstream's own report of a failure reaches the caller as it is.
        if (!(error instanceof GatewayError)) throw error;
        // Its decoder has seen the marked events alone: what was said before them makes it a reply.
        if (error.isByModel && this.words() !== '') this.isDone = true;
        else this.seenFailure = error;
      }
      // Only the last event of one protocol carries the whole reply.
      if (data.includes('"response"')) this.keepAnswer(data);
    }
  }

  private keepAnswer(data: string): void {
    const response = parseReply(withoutCharges(data))['response'];
    if (typeof response === 'object' && response !== null && !Array.isArray(response))
      this.seenAnswer = response as JsonObject;
  }

  private readProduced(events: Buffer): void {
    for (const data of eventData(events.toString('utf8'))) {
      this.isDone ||= data === DONE;
      try {
        this.produced += this.producedBy(parseReply(data));
      } catch {
        // Counting is a best effort on a stream that may end in a failure.
      }
    }
  }
}

/** How many bytes of events are packed together. */
const BLOCK_BYTES = 64 * 1024;
/** The blocks that are kept, and the bytes that they may take: to read them all is to take few milliseconds. */
const BLOCKS_MAX = 8;
const PACKED_BYTES_MAX = 128 * 1024;

/** The quickest there is. Events of one stream are so alike that little is left of them. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } };

/**
 * Keeps events of a stream in case they must be read after all, which most need not: packing them takes a tenth of the time
 * of parsing them. What is too much to keep is read when more comes. All are read in the order in which they came.
 */
export class HeldEvents {
  private loose: Buffer[] = [];
  private looseBytes = 0;
  private packed: Buffer[] = [];
  private packedBytes = 0;

  /** `read` is given whole events, one or many. */
  constructor(private readonly read: (events: Buffer) => void) {}

  hold(events: Buffer): void {
    this.loose.push(events);
    this.looseBytes += events.length;
    if (this.looseBytes < BLOCK_BYTES) return;
    // A picture, which packing would not make smaller.
    if (this.looseBytes > PACKED_BYTES_MAX) return this.readAll();
    this.pack();
    while (this.packed.length > BLOCKS_MAX || this.packedBytes > PACKED_BYTES_MAX) this.readOldest();
  }

  readAll(): void {
    while (this.packed.length > 0) this.readOldest();
    const rest = this.takeLoose();
    if (rest.length > 0) this.read(rest);
  }

  private pack(): void {
    const block = brotliCompressSync(this.takeLoose(), QUICKLY);
    this.packed.push(block);
    this.packedBytes += block.length;
  }

  private readOldest(): void {
    const block = this.packed.shift();
    if (!block) return;
    this.packedBytes -= block.length;
    this.read(brotliDecompressSync(block));
  }

  private takeLoose(): Buffer {
    const events = Buffer.concat(this.loose);
    this.loose = [];
    this.looseBytes = 0;
    return events;
  }
}
