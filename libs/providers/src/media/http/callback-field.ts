import type { VendorCall } from '#contracts';
import type { MediaCodec, VendorRequest } from './media-codec.js';

/** An order with the address that its vendor may call. */
export const withCallback = (
  request: VendorRequest,
  { callbackField: field }: MediaCodec,
  { callbackUrl: url }: VendorCall,
): VendorRequest =>
  field === undefined || url === undefined ? request : { ...request, body: { ...request.body, [field]: url } };
