/** A box of an MP4 file. */
export interface Mp4Box {
  readonly type: string;
  /** Everything after length and type, boxes inside included. */
  readonly content: Buffer;
  /** Where the content begins in the file. */
  readonly contentStart: number;
  readonly children: readonly Mp4Box[];
}

/** One track, with the samples that its tables point at. */
export interface Mp4Track {
  readonly kind: string;
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  /** Length of the samples on the track's own clock, and of what a player shows of them. */
  readonly mediaSeconds: number;
  readonly shownSeconds: number;
  readonly skippedTicks: number;
  readonly samples: readonly Buffer[];
}

/** Boxes that hold boxes, and how many bytes of their own come first. */
const CONTAINERS: Readonly<Record<string, number>> = {
  moov: 0,
  trak: 0,
  edts: 0,
  mdia: 0,
  minf: 0,
  dinf: 0,
  stbl: 0,
  udta: 0,
  meta: 4,
  ilst: 0,
  stsd: 8,
  avc1: 78,
  mp4a: 28,
};

/** @throws Error when the lengths of boxes do not add up. */
export function readBoxes(file: Uint8Array): Mp4Box[] {
  return boxesBetween(Buffer.from(file), 0, file.length, 'file');
}

function boxesBetween(file: Buffer, start: number, end: number, parent: string): Mp4Box[] {
  const boxes: Mp4Box[] = [];
  for (let at = start; at < end; at += file.readUInt32BE(at)) {
    const boxEnd = at + file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    if (boxEnd < at + 8 || boxEnd > end) throw new Error(`box ${type} does not fit`);
    const contentStart = at + 8;
    const ownBytes = parent === 'ilst' ? 0 : CONTAINERS[type];
    const children = ownBytes === undefined ? [] : boxesBetween(file, contentStart + ownBytes, boxEnd, type);
    boxes.push({ type, content: file.subarray(contentStart, boxEnd), contentStart, children });
  }
  return boxes;
}

/**
 * The box at a path such as `moov/trak/tkhd`; of several with the same name the first.
 *
 * @throws Error when there is none.
 */
export function boxAt(boxes: readonly Mp4Box[], path: string): Mp4Box {
  const [type, ...rest] = path.split('/');
  const found = boxes.find((candidate) => candidate.type === type);
  if (!found) throw new Error(`no box ${type}`);
  return rest.length === 0 ? found : boxAt(found.children, rest.join('/'));
}

/** All tracks, in the order of the file. */
export function readTracks(file: Uint8Array): Mp4Track[] {
  const boxes = readBoxes(file);
  const movieTimescale = boxAt(boxes, 'moov/mvhd').content.readUInt32BE(12);
  const tracks = boxAt(boxes, 'moov').children.filter(({ type }) => type === 'trak');
  return tracks.map((track) => readTrack(Buffer.from(file), track, movieTimescale));
}

function readTrack(file: Buffer, track: Mp4Box, movieTimescale: number): Mp4Track {
  const content = (path: string): Buffer => boxAt(track.children, path).content;
  const header = content('tkhd');
  const media = content('mdia/mdhd');
  const edit = content('edts/elst');
  const sizes = content('mdia/minf/stbl/stsz');
  let at = content('mdia/minf/stbl/stco').readUInt32BE(8);
  const samples = Array.from({ length: sizes.readUInt32BE(8) }, (_, index) => {
    const start = at;
    at += sizes.readUInt32BE(12 + index * 4);
    return file.subarray(start, at);
  });
  const [sampleEntry] = boxAt(track.children, 'mdia/minf/stbl/stsd').children;
  return {
    kind: content('mdia/hdlr').toString('latin1', 8, 12),
    codec: sampleEntry?.type ?? '',
    width: header.readUInt32BE(76) / 65_536,
    height: header.readUInt32BE(80) / 65_536,
    mediaSeconds: media.readUInt32BE(16) / media.readUInt32BE(12),
    shownSeconds: edit.readUInt32BE(8) / movieTimescale,
    skippedTicks: edit.readUInt32BE(12),
    samples,
  };
}
