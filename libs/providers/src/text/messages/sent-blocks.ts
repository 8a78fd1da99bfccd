import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { parsedObject } from '#platform';

/** An event that makes a block, or a piece of it. */
interface BlockEvent {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: unknown;
  readonly delta?: unknown;
}

interface SentBlock {
  readonly begun: JsonObject;
  /** What came behind its beginning, by the field of the block that it belongs to. */
  readonly texts: Map<string, string>;
  readonly citations: JsonValue[];
}

/** Where the pieces of a block belong: each names its own field, but for those of a call. */
const TEXTS: Readonly<Record<string, readonly [piece: string, field: string]>> = {
  text_delta: ['text', 'text'],
  thinking_delta: ['thinking', 'thinking'],
  signature_delta: ['signature', 'signature'],
  input_json_delta: ['partial_json', 'input'],
};

/** Memory is taken in pieces of so many bytes. */
const PIECE_BYTES = 256 * 1024;

/** The blocks of a streamed reply as its vendor made them, its own tools with what they found included: it goes on from those. */
export class SentBlocks {
  private readonly blocks: SentBlock[] = [];
  /** The latest block of each place. */
  private readonly open = new Map<number | undefined, SentBlock>();
  private isKnown = true;
  private unreservedBytes = 0;

  constructor(private readonly keep: (bytes: number) => void) {}

  /** @param bytes about what the event takes. */
  take({ type, index, content_block: begun, delta }: BlockEvent, bytes: number): void {
    if (!this.isKnown) return;
    this.unreservedBytes += bytes;
    if (this.unreservedBytes > PIECE_BYTES && !this.hasRoom()) return this.forget();
    if (type === 'content_block_start' && isJsonObject(begun)) {
      const block = { begun: begun as JsonObject, texts: new Map<string, string>(), citations: [] };
      this.blocks.push(block);
      this.open.set(index, block);
    }
    if (type !== 'content_block_delta' || !isJsonObject(delta)) return;
    const block = this.open.get(index);
    this.isKnown = block !== undefined && hasGrown(block, delta as JsonObject);
  }

  private hasRoom(): boolean {
    try {
      this.keep(this.unreservedBytes);
    } catch {
      return false;
    }
    this.unreservedBytes = 0;
    return true;
  }

  /** The reply ends where its vendor left it. */
  private forget(): void {
    this.isKnown = false;
    this.blocks.length = 0;
    this.open.clear();
  }

  /** Undefined where something came that has no known place, or nothing came, or more than there is memory for. */
  content(): readonly JsonObject[] | undefined {
    const whole = this.blocks.map(asWhole);
    // The interface takes no text without a word.
    const said = whole.filter((block) => block?.['type'] !== 'text' || /\S/.test(textIn(block['text'])));
    return this.isKnown && said.length > 0 && said.every((block) => block !== undefined) ? said : undefined;
  }
}

const textIn = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** Puts a piece in its place; false where none is known. */
function hasGrown({ texts, citations }: SentBlock, delta: JsonObject): boolean {
  const { type, citation } = delta;
  const [piece, field] = TEXTS[textIn(type)] ?? [];
  if (piece !== undefined && field !== undefined) texts.set(field, (texts.get(field) ?? '') + textIn(delta[piece]));
  else if (type === 'citations_delta' && citation !== undefined) citations.push(citation);
  else return false;
  return true;
}

/** Undefined for a call whose arguments are no object. */
function asWhole({ begun, texts, citations }: SentBlock): JsonObject | undefined {
  const { input: json, ...grown } = Object.fromEntries(texts);
  const input = json ? parsedObject(json) : undefined;
  if (json && !input) return undefined;
  // Some servers say the proof of a thought at its beginning and again at its end.
  const words = Object.entries(grown).map(([field, text]) => [
    field,
    field === 'signature' ? text : textIn(begun[field]) + text,
  ]);
  return {
    ...begun,
    ...(Object.fromEntries(words) as JsonObject),
    ...(input && { input }),
    ...(citations.length > 0 && { citations }),
  };
}
