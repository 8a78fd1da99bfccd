import { jsonBytes } from '#platform';

/**
 * The envelope of D1 section 1 around a native object: `code` and `data` as the specification wants them, and the native
 * fields at the top level as client libraries want them. The native object is serialised once.
 *
 * @param native JSON text of a non-empty object.
 * @param data JSON text of what is in `data`; the native object itself when left out.
 */
export function envelope(native: string, data: string = native): string {
  return `{"code":200,"data":${data},${native.slice(native.indexOf('{') + 1)}`;
}

/** The same of a native object that may be long: written in steps, once, with other work in between. */
export async function envelopeBytes(native: object): Promise<readonly Buffer[]> {
  const pieces = await jsonBytes(native);
  const [first = Buffer.alloc(0), ...rest] = pieces;
  return [Buffer.from('{"code":200,"data":'), ...pieces, Buffer.from(','), first.subarray(1), ...rest];
}
