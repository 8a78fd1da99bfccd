import type { JsonObject, NativeBody, TextCall } from '#contracts';
import { jsonBytes } from '#platform';
import { replaceTopLevelString } from './top-level-field.js';
import type { RequestBytes } from './upstream-http.js';

/** The body's own bytes; only the model's name is another at some upstreams. */
export function nativeBytes(native: NativeBody, call: TextCall): RequestBytes | Promise<RequestBytes> {
  if (native.kind === 'rewritten') {
    const named = 'model' in native.body ? { model: call.upstreamModel } : {};
    return jsonBytes({ ...native.body, ...named });
  }
  const { buffer, byteOffset, byteLength } = native.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const named = call.model === call.upstreamModel ? [bytes] : replaceTopLevelString(bytes, 'model', call.upstreamModel);
  return native.front ? withFront(named, native.front) : named;
}

const BRACE = 0x7b;

/** Fields in front of those of an object that is not empty. */
function withFront([first = Buffer.alloc(0), ...others]: RequestBytes, front: JsonObject): RequestBytes {
  // Mostly the first byte, which a search in native code takes longer for.
  const place = first[0] === BRACE ? 1 : first.indexOf(BRACE) + 1;
  const members = Buffer.from(`${JSON.stringify(front).slice(1, -1)},`);
  return [first.subarray(0, place), members, first.subarray(place), ...others];
}
