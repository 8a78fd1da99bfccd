import type { IotaEditRequest, IotaRequest, JsonObject, PlannedOrder } from '#contracts';
import type { FileAddress } from '../http/media-codec.js';

/** Body of an order for iota-1.0-reseller (vendors.md 11). */
export function mapIota({ parameters }: PlannedOrder, model: string): JsonObject {
  const { prompt, n, size } = parameters as JsonObject & IotaRequest;
  return { model, prompt, n, aspect_ratio: size, response_format: 'url' };
}

/** Body of an order for iota-1.0-edit-reseller: the shape follows the image. */
export function mapIotaEdit({ parameters }: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const { prompt, n } = parameters as JsonObject & IotaEditRequest;
  return { model, prompt, n, image: { url: file('image_urls[0]'), type: 'image_url' }, response_format: 'url' };
}
