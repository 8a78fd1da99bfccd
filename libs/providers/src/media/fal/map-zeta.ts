import type { JsonObject, ZetaQ3ProRequest } from '#contracts';
import { chosenSeed, fileAs, present } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';

/** Vidu Q3 pro and turbo at fal. */
export const mapZeta: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & ZetaQ3ProRequest;
  const first = fileAs(order, 'first_frame', file);
  const speed = asked.model === 'zeta-q3-turbo' ? '/turbo' : '';
  const input = present({
    prompt: asked.prompt,
    duration: asked.duration,
    resolution: asked.resolution,
    audio: asked.audio,
    seed: chosenSeed(asked.seed),
    aspect_ratio: asked.aspect_ratio,
    image_url: first,
    end_image_url: fileAs(order, 'last_frame', file),
  });
  return { endpoint: `${first === undefined ? 'text' : 'image'}-to-video${speed}`, input };
};
