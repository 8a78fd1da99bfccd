import { encodePng } from './png.js';
import { type RenderRequest, SANDBOX_LABEL, type SceneDescription } from './render-request.js';
import { drawLastFrame, encodeFilm } from './film.js';
import { paintTitleCard } from './title-card.js';

/**
 * Renders one file: PNG for pictures and last frames, MP4 for films. Works without pause for up to half a second of CPU, so
 * a process that serves requests calls it through `RenderPool`. This file is also what the pool's threads run.
 *
 * @throws RangeError when a film's side is odd or its size is beyond H.264 level 5.2.
 */
export default function render(request: RenderRequest): Uint8Array {
  const metadata = describe(request.scene);
  switch (request.kind) {
    case 'picture':
      return encodePng(paintTitleCard(request.scene, 0).canvas, metadata);
    case 'last_frame':
      return encodePng(drawLastFrame(request.scene, request.film), metadata);
    case 'film':
      return encodeFilm(request.scene, request.film, metadata);
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
