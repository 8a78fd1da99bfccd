import type { VendorCall } from '#contracts';
import type { MediaCodec, VendorRequest } from './media-codec.js';

/** An order with the address that its vendor may call. */
export function withCallback(
  request: VendorRequest,
  { callback }: MediaCodec,
  { callbackUrl: url }: VendorCall,
): VendorRequest {
  if (callback === undefined || url === undefined) return request;
  if ('field' in callback) return { ...request, body: { ...request.body, [callback.field]: url } };
  const separator = request.path.includes('?') ? '&' : '?';
  return { ...request, path: `${request.path}${separator}${callback.query}=${encodeURIComponent(url)}` };
}
