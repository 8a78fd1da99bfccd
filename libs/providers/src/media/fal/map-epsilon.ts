import type { Epsilon02Request, Epsilon23Request, JsonObject } from '#contracts';
import { fileAs, present, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';

/** Hailuo at fal: 1080p is a path of its own, and lasts 6 s. What is sold as 5 s is made as 6. */
export const mapEpsilon: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & (Epsilon02Request | Epsilon23Request);
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  const grade = asked.resolution === '1080p' ? 'pro' : 'standard';
  refuseIf(asked.watermark, 'watermark', 'watermark must be false: no watermark is made here.');
  refuseIf(asked.fast_pretreatment, 'fast_pretreatment', 'fast_pretreatment must be false here.');
  refuseIf(
    last !== undefined && first === undefined,
    'last_frame_image',
    'last_frame_image needs first_frame_image here.',
  );
  refuseIf(
    asked.resolution === '512p' && first === undefined,
    'resolution',
    'resolution 512p needs first_frame_image here.',
  );
  return {
    endpoint: `${grade}/${first === undefined ? 'text' : 'image'}-to-video`,
    input: present({
      prompt: asked.prompt,
      prompt_optimizer: asked.prompt_optimizer,
      duration: grade === 'standard' ? String(asked.duration === 5 ? 6 : asked.duration) : undefined,
      // Only Hailuo 02 takes it, from images.
      resolution:
        asked.model === 'epsilon-02' && grade === 'standard' && first !== undefined
          ? asked.resolution.toUpperCase()
          : undefined,
      image_url: first,
      end_image_url: last,
    }),
  };
};
