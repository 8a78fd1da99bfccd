import type { AlphaRequest, JsonObject, PlannedOrder } from '#contracts';
import { type FileAddress, NotMakeable } from '../http/media-codec.js';

/** Body of an order for family alpha: Seedance 2.0 (vendors.md 3.2). */
export function mapAlpha(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & AlphaRequest;
  const roles = order.references.map(({ role }) => role);
  if (roles.includes('last_frame') && !roles.includes('first_frame'))
    throw new NotMakeable('image_with_roles', 'image_with_roles needs a first_frame beside the last_frame here.');
  return {
    model,
    content: [...(asked.prompt === undefined ? [] : [{ type: 'text', text: asked.prompt }]), ...files(order, file)],
    // Sent even where they are the vendor's defaults: its pages do not agree on these.
    duration: asked.duration,
    ratio: asked.size,
    resolution: asked.resolution,
    generate_audio: asked.generate_audio,
    return_last_frame: asked.return_last_frame,
    ...(asked.seed !== undefined && { seed: asked.seed }),
    ...(asked.tools !== undefined && { tools: asked.tools.map(({ type }) => ({ type })) }),
  };
}

const ROLES = { first_frame: 'first_frame', last_frame: 'last_frame' } as const;

/** Images, videos and sounds in the order in which a prompt counts them. */
const files = ({ references }: PlannedOrder, file: FileAddress): JsonObject[] =>
  references.map(({ param, medium, role }) => {
    const url = file(param);
    if (medium === 'video') return { type: 'video_url', video_url: { url }, role: 'reference_video' };
    if (medium === 'audio') return { type: 'audio_url', audio_url: { url }, role: 'reference_audio' };
    const frame = role === 'first_frame' || role === 'last_frame' ? ROLES[role] : 'reference_image';
    return { type: 'image_url', image_url: { url }, role: frame };
  });
