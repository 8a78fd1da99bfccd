import { arkImageCodec } from './ark/ark-image.codec.js';
import { arkVideoCodec } from './ark/ark-video.codec.js';
import { dashscopeImageCodec } from './dashscope/dashscope-image.codec.js';
import { dashscopeVideoCodec } from './dashscope/dashscope-video.codec.js';
import { falCodec } from './fal/fal.codec.js';
import { gatewayCodec } from './gateway/gateway.codec.js';
import type { MediaCodec } from './http/media-codec.js';
import { klingCodec } from './kling/kling.codec.js';
import { minimaxCodec } from './minimax/minimax.codec.js';
import { vertexVeoCodec } from './vertex/vertex-veo.codec.js';
import { viduCodec } from './vidu/vidu.codec.js';
import { xaiImageCodec } from './xai/xai-image.codec.js';

/**
 * The code of each protocol except the sandbox. A new one is a folder and a line here: docs/add-a-vendor.md says how, and
 * docs/media-upstreams.md which references the protocols were written from.
 */
export const MEDIA_CODECS = {
  'ark-image': arkImageCodec,
  'ark-video': arkVideoCodec,
  'dashscope-image': dashscopeImageCodec,
  'dashscope-video': dashscopeVideoCodec,
  fal: falCodec,
  gateway: gatewayCodec,
  kling: klingCodec,
  minimax: minimaxCodec,
  'vertex-veo': vertexVeoCodec,
  vidu: viduCodec,
  'xai-image': xaiImageCodec,
} as const satisfies Readonly<Record<string, MediaCodec>>;

export type VendorProtocol = keyof typeof MEDIA_CODECS;

export type MediaProtocol = VendorProtocol | 'sandbox';

/** The same as a list, sorted. */
export const MEDIA_PROTOCOLS: readonly MediaProtocol[] = [
  ...(Object.keys(MEDIA_CODECS) as VendorProtocol[]),
  'sandbox' as const,
].sort();
