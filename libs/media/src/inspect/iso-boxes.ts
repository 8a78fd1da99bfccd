import { malformed } from './media-unreadable.js';

/** A box of the ISO base media format (ISO 14496-12): its four-letter type and where its content lies. */
export interface Box {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** More boxes than any real parent holds. */
const MAX_CHILDREN = 4_096;

/** Size and header length of the box at an offset. A size of 0 means "to the end", which is `available`. */
export function readBoxHeader(
  bytes: Buffer,
  offset: number,
  available: number,
): { type: string; size: number; headerBytes: number } {
  const type = bytes.toString('latin1', offset + 4, offset + 8);
  const size = bytes.readUInt32BE(offset);
  if (size === 0) return { type, size: available, headerBytes: 8 };
  if (size === 1) return checked(type, Number(bytes.readBigUInt64BE(offset + 8)), 16);
  return checked(type, size, 8);
}

function checked(type: string, size: number, headerBytes: number) {
  if (size < headerBytes) throw malformed('one of its boxes has an impossible size');
  return { type, size, headerBytes };
}

/** The boxes inside a box, in order; each must end inside its parent. */
export function* childBoxes(bytes: Buffer, parent: Pick<Box, 'start' | 'end'>): Generator<Box> {
  let position = parent.start;
  for (let count = 0; count < MAX_CHILDREN && position + 8 <= parent.end; count += 1) {
    const { type, size, headerBytes } = readBoxHeader(bytes, position, parent.end - position);
    if (position + size > parent.end) throw malformed('one of its boxes is larger than the box around it');
    yield { type, start: position + headerBytes, end: position + size };
    position += size;
  }
}

/** The first box of each type on the way down, for example `mdia`, `minf`, `stbl`. */
export function findBox(bytes: Buffer, parent: Pick<Box, 'start' | 'end'>, ...path: string[]): Box | undefined {
  let found: Pick<Box, 'start' | 'end'> & Partial<Box> = parent;
  for (const type of path) {
    const next = firstBox(bytes, found, type);
    if (!next) return undefined;
    found = next;
  }
  return found as Box;
}

function firstBox(bytes: Buffer, parent: Pick<Box, 'start' | 'end'>, type: string): Box | undefined {
  for (const box of childBoxes(bytes, parent)) if (box.type === type) return box;
  return undefined;
}

/** Like {@link findBox}, for boxes without which the file means nothing. @throws MediaUnreadable `malformed`. */
export function requireBox(bytes: Buffer, parent: Pick<Box, 'start' | 'end'>, ...path: string[]): Box {
  const box = findBox(bytes, parent, ...path);
  if (!box) throw malformed(`its movie header lacks "${path.join('/')}"`);
  return box;
}

/** The numbers of one box, read by offset into its content; reading past its end fails. */
export class BoxFields {
  private readonly content: Buffer;

  constructor(bytes: Buffer, box: Box) {
    this.content = bytes.subarray(box.start, box.end);
  }

  get length(): number {
    return this.content.length;
  }

  /** The version byte that full boxes begin with. */
  get version(): number {
    return this.content.readUInt8(0);
  }

  /** The three flag bytes behind the version. */
  get flags(): number {
    return this.content.readUIntBE(1, 3);
  }

  short(offset: number): number {
    return this.content.readUInt16BE(offset);
  }

  long(offset: number): number {
    return this.content.readUInt32BE(offset);
  }

  signedLong(offset: number): number {
    return this.content.readInt32BE(offset);
  }

  /** A 64-bit number; beyond 2^53 it is rounded, which no limit notices. */
  longLong(offset: number): number {
    return Number(this.content.readBigUInt64BE(offset));
  }

  letters(offset: number): string {
    return this.content.toString('latin1', offset, offset + 4);
  }

  /** How many entries of a table are really there, whatever the count in the file claims. */
  entries(claimed: number, tableOffset: number, entryBytes: number): number {
    return Math.max(0, Math.min(claimed, Math.floor((this.length - tableOffset) / entryBytes)));
  }
}
