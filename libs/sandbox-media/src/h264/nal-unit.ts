/**
 * First byte of each kind of NAL unit: `nal_ref_idc` 3 (others may depend on it), then `nal_unit_type`
 * (ITU-T H.264, 7.4.1).
 */
export const NAL_UNIT_HEADERS = {
  dependentSlice: 0x61,
  keyFrameSlice: 0x65,
  sequenceParameterSet: 0x67,
  pictureParameterSet: 0x68,
} as const;
export type NalUnitKind = keyof typeof NAL_UNIT_HEADERS;

/**
 * Wraps a payload as a NAL unit. Two zero bytes followed by 0, 1, 2 or 3 would look like a start code, so a 3 is put
 * between them (ITU-T H.264, 7.4.1.1); decoders take it out again.
 */
export function nalUnit(kind: NalUnitKind, payload: Uint8Array): Uint8Array {
  const protectedAt = lookAlikes(payload);
  const unit = new Uint8Array(1 + payload.length + protectedAt.length);
  unit[0] = NAL_UNIT_HEADERS[kind];
  let copiedTo = 0;
  let written = 1;
  for (const position of protectedAt) {
    unit.set(payload.subarray(copiedTo, position), written);
    written += position - copiedTo;
    unit[written++] = 3;
    copiedTo = position;
  }
  unit.set(payload.subarray(copiedTo), written);
  return unit;
}

/** Positions of bytes that, after two zeros, would be read as a start code. */
function lookAlikes(payload: Uint8Array): number[] {
  const positions: number[] = [];
  let zeros = 0;
  for (let position = 0; position < payload.length; position++) {
    const byte = payload[position] ?? 0;
    if (zeros >= 2 && byte <= 3) {
      positions.push(position);
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return positions;
}
