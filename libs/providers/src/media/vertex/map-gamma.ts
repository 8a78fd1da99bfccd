import type { GammaRequest, JsonObject, PlannedOrder } from '#contracts';
import { type FileAddress, NotMakeable } from '../http/media-codec.js';

const SECONDS: readonly number[] = [4, 6, 8];
const DATA_URI = /^data:([\w/+.-]+);base64,/;

/** Body of an order for family gamma: Veo 3.1 on Vertex AI (vendors.md 7). */
export function mapGamma(order: PlannedOrder, storageUri: string | undefined, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & GammaRequest;
  const { negative_prompt: avoided, seed, first_frame_image: first, last_frame_image: last } = asked;
  if (!SECONDS.includes(asked.duration)) throw new NotMakeable('duration', 'duration is 4, 6 or 8 here.');
  // By the vendor's pages of Veo 3.1 as of July 2026.
  if (asked.resolution !== '720p' && asked.duration !== 8)
    throw new NotMakeable('duration', 'duration is 8 with resolution 1080p and 4K here.');
  return {
    instances: [
      {
        prompt: asked.prompt,
        ...(first !== undefined && { image: image(file('first_frame_image')) }),
        ...(last !== undefined && { lastFrame: image(file('last_frame_image')) }),
      },
    ],
    parameters: {
      durationSeconds: asked.duration,
      aspectRatio: asked.aspect_ratio,
      resolution: asked.resolution.toLowerCase(),
      sampleCount: asked.sample_count,
      // The vendor wants it said.
      generateAudio: asked.generate_audio,
      personGeneration: asked.person_generation === 'disallow' ? 'dont_allow' : asked.person_generation,
      enhancePrompt: asked.enhance_prompt,
      ...(avoided !== undefined && { negativePrompt: avoided }),
      ...(seed !== undefined && { seed }),
      ...(first !== undefined && { resizeMode: asked.resize_mode }),
      ...(storageUri !== undefined && { storageUri }),
    },
  };
}

/** Images are taken as bytes only. In a plan the caller's own words stand for them. */
function image(file: string): JsonObject {
  const [start = '', mimeType = 'image/png'] = DATA_URI.exec(file) ?? [];
  return { bytesBase64Encoded: file.slice(start.length), mimeType };
}
