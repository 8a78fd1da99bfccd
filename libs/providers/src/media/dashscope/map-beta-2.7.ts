import type { Beta27R2vRequest, Beta27Request, JsonObject, PlannedOrder } from '#contracts';
import { type FileAddress, NotMakeable } from '../http/media-codec.js';
import { kindOf, wanModel, wanSeed } from './wan-model.js';

/** Request body for beta-2.7: wan2.7 from a text, from frames, or continuing a video. */
export function mapBeta27(order: PlannedOrder, name: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & Beta27Request;
  const kind = kindOf(order);
  const roles = new Set(order.references.map(({ medium, role }) => (medium === 'video' ? 'clip' : role)));
  if (kind === 'i2v' && !roles.has('first_frame') && !roles.has('clip'))
    throw new NotMakeable('image_with_roles', 'image_with_roles needs a first_frame beside the last_frame here.');
  const sound = asked.audio_url === undefined ? undefined : file('audio_url');
  return {
    model: wanModel(name, kind),
    input: {
      ...(asked.prompt !== undefined && { prompt: asked.prompt }),
      ...(asked.negative_prompt !== undefined && { negative_prompt: asked.negative_prompt }),
      ...(kind === 'i2v' && { media: order.references.map((reference) => mediumOf(reference, file)) }),
      ...(kind === 't2v' && sound !== undefined && { audio_url: sound }),
    },
    parameters: {
      ...sharedParameters(asked),
      // Elsewhere the shape follows the image.
      ...(kind === 't2v' && { ratio: asked.size }),
    },
  };
}

/** Request body for beta-2.7-r2v: wan2.7 with the characters of references. */
export function mapBeta27R2v(order: PlannedOrder, name: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & Beta27R2vRequest;
  const images = (asked.image_with_roles ?? []).map(({ role, reference_voice: voice }, index) => ({
    type: role,
    url: file(`image_with_roles[${index}].url`),
    ...(voice !== undefined && { reference_voice: file(`image_with_roles[${index}].reference_voice`) }),
  }));
  const videos = (asked.video_urls ?? []).map((_, index) => ({
    type: 'reference_video',
    url: file(`video_urls[${index}]`),
  }));
  const framed = images.some(({ type }) => type === 'first_frame');
  return {
    model: name,
    input: {
      prompt: asked.prompt,
      ...(asked.negative_prompt !== undefined && { negative_prompt: asked.negative_prompt }),
      // A prompt counts images and videos each in their order.
      media: [...images, ...videos],
    },
    parameters: { ...sharedParameters(asked), ...(!framed && { ratio: asked.size }) },
  };
}

const sharedParameters = (asked: Beta27Request | Beta27R2vRequest): JsonObject => ({
  resolution: asked.resolution,
  duration: asked.duration,
  prompt_extend: asked.prompt_extend,
  watermark: asked.watermark,
  ...wanSeed(asked.seed),
});

function mediumOf({ param, medium, role }: PlannedOrder['references'][number], file: FileAddress): JsonObject {
  const url = file(param);
  if (medium === 'video') return { type: 'first_clip', url };
  return { type: medium === 'audio' ? 'driving_audio' : role, url };
}
