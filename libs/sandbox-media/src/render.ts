import { encodePng } from './png.js';
import { type RenderRequest, SANDBOX_LABEL, type SceneDescription } from './render-request.js';
import { drawLastFrame, encodeVideo } from './video.js';
import { paintTitleCard } from './title-card.js';

/**
 * Renders one file: PNG for images and last frames, MP4 for videos. Works without pause for up to half a second of CPU, so
 * a process that serves requests calls it through `RenderPool`. This file is also what the pool's threads run.
 *
 * @throws RangeError when a video's side is odd or its size is beyond H.264 level 5.2.
 */
export default function render(request: RenderRequest): Uint8Array {
  const metadata = describe(request.scene);
  switch (request.kind) {
    case 'image':
      return encodePng(paintTitleCard(request.scene, 0).canvas, metadata);
    case 'last_frame':
      return encodePng(drawLastFrame(request.scene, request.video), metadata);
    case 'video':
      return encodeVideo(request.scene, request.video, metadata);
    default:
      return request satisfies never;
  }
}

/** The metadata of an output, under the keywords of the PNG specification. */
function describe({ model, prompt, seed }: SceneDescription): Record<string, string> {
  return {
    Title: SANDBOX_LABEL,
    Software: 'sandbox provider',
    Description: prompt,
    Comment: `${SANDBOX_LABEL}; model ${model}, seed ${seed}`,
  };
}
