import type { Beta25PreviewRequest, Beta26Request, JsonObject, PlannedOrder } from '#contracts';
import { refuseLonger } from '../http/mapping.js';
import { type FileAddress, NotMakeable } from '../http/media-codec.js';
import { kindOf, wanModel, wanSeed } from './wan-model.js';

/** Longest texts of wan2.5 and wan2.6, in characters. */
const PROMPT_CHARACTERS = 1_500;
const NEGATIVE_CHARACTERS = 500;

/** Request body for beta-2.5-preview: wan2.5. */
export function mapBeta25(order: PlannedOrder, name: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & Beta25PreviewRequest;
  const kind = kindOf(order);
  return body(order, name, asked, file, kind === 'i2v' ? { audio: asked.audio } : {});
}

/** Request body for beta-2.6: wan2.6. Effect templates exist in the Beijing region only. */
export const mapBeta26 =
  (hasTemplates: boolean) =>
  (order: PlannedOrder, name: string, file: FileAddress): JsonObject => {
    const asked = order.parameters as JsonObject & Beta26Request;
    const { audio, shot_type: shots, prompt_extend: extended, template } = asked;
    if (template !== undefined && !hasTemplates)
      throw new NotMakeable('template', 'template is made in the Beijing region only.');
    if (shots === 'multi' && extended === false)
      throw new NotMakeable('shot_type', 'shot_type multi needs prompt_extend here.');
    const kind = kindOf(order);
    if (kind === 't2v' && audio === false)
      throw new NotMakeable('audio', 'audio false needs image_urls here: videos from a text alone have sound.');
    const isSilencing = kind === 'i2v' && /-flash\b/.test(wanModel(name, kind));
    // By the vendor's page of wan2.6 image-to-video (November 2026) its flash model alone has the field.
    if (audio === false && !isSilencing)
      throw new NotMakeable('audio', 'audio false needs the flash model of wan2.6 here: others always have sound.');
    const made = body(order, name, asked, file, {
      ...(isSilencing && audio !== undefined && { audio }),
      ...(shots !== undefined && { shot_type: shots }),
    });
    return template === undefined ? made : { ...made, input: { ...(made['input'] as JsonObject), template } };
  };

function body(
  order: PlannedOrder,
  name: string,
  asked: Beta25PreviewRequest | Beta26Request,
  file: FileAddress,
  parameters: JsonObject,
): JsonObject {
  // The vendor cuts a longer text off in silence.
  refuseLonger('prompt', asked.prompt, PROMPT_CHARACTERS);
  refuseLonger('negative_prompt', asked.negative_prompt, NEGATIVE_CHARACTERS);
  const kind = kindOf(order);
  return {
    model: wanModel(name, kind),
    input: {
      ...(asked.prompt !== undefined && { prompt: asked.prompt }),
      ...(asked.negative_prompt !== undefined && { negative_prompt: asked.negative_prompt }),
      ...(kind === 'i2v' && { img_url: file('image_urls[0]') }),
      ...(asked.audio_url !== undefined && { audio_url: file('audio_url') }),
    },
    parameters: {
      ...sizeOf(order, asked.resolution),
      duration: asked.duration,
      ...(asked.prompt_extend !== undefined && { prompt_extend: asked.prompt_extend }),
      ...(asked.watermark !== undefined && { watermark: asked.watermark }),
      ...wanSeed(asked.seed),
      ...parameters,
    },
  };
}

/** Pixels where nothing gives the shape, else the class: the vendor's own default is 1080P. */
function sizeOf({ output: { size } }: PlannedOrder, resolution: string): JsonObject {
  if (size.kind === 'fixed') return { size: `${size.width}*${size.height}` };
  return { resolution: resolution.toUpperCase() };
}
