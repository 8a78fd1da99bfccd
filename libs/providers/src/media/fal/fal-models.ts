import type {
  AlphaRequest,
  Beta25PreviewRequest,
  Beta26Request,
  DeltaV26Request,
  Epsilon02Request,
  Epsilon23Request,
  GammaRequest,
  JsonObject,
} from '#contracts';
import { chosenSeed, fileAs, present, referencesOf, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';
import { mapBeta27, mapBeta27R2v } from './map-beta-2.7.js';
import { mapEta, mapIota, mapIotaEdit, mapKappa, mapTheta } from './map-images.js';
import { mapZeta } from './map-zeta.js';
import { refuseLackingOfWan, refusePromptOfWan } from './wan.js';

const DURATIONS: readonly number[] = [4, 6, 8];

/** Veo 3.1 at fal. */
const mapGamma: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & GammaRequest;
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  refuseLacking(asked, first !== undefined);
  const input = present({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    duration: `${asked.duration}s`,
    aspect_ratio: asked.aspect_ratio,
    resolution: asked.resolution.toLowerCase(),
    generate_audio: asked.generate_audio,
    // A refused prompt is reported to the caller instead of being rewritten by the vendor.
    auto_fix: false,
    seed: asked.seed,
  });
  if (first === undefined) return { input };
  return last === undefined
    ? { endpoint: 'image-to-video', input: { ...input, image_url: first } }
    : { endpoint: 'first-last-frame-to-video', input: { ...input, first_frame_url: first, last_frame_url: last } };
};

function refuseLacking(asked: GammaRequest, hasFirst: boolean): void {
  refuseIf(asked.sample_count > 1, 'sample_count', 'sample_count must be 1 here.');
  refuseIf(!DURATIONS.includes(asked.duration), 'duration', 'duration must be 4, 6 or 8 here.');
  refuseIf(asked.person_generation === 'disallow', 'person_generation', 'person_generation must be allow_adult here.');
  refuseIf(hasFirst && asked.resize_mode === 'pad', 'resize_mode', 'resize_mode must be crop here.');
}

/** Hailuo at fal: 1080p is a path of its own, and lasts 6 s. What is sold as 5 s is made as 6. */
const mapEpsilon: FalMapping = (order, file) => {
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

/** Kling 2.6 at fal, which has its grade pro only. */
const mapDelta: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & DeltaV26Request;
  const first = fileAs(order, 'first_frame', file);
  refuseIf(asked.mode === 'std', 'mode', 'mode must be pro here.');
  refuseIf(asked.watermark === true, 'watermark', 'watermark must be false: no watermark is made here.');
  const input = {
    prompt: asked.prompt,
    duration: String(asked.duration),
    generate_audio: asked.audio,
    // The vendor's own default is a text.
    negative_prompt: asked.negative_prompt ?? '',
  };
  if (first === undefined) return { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.aspect_ratio } };
  // The ratio follows the image, as the family says.
  const frames = { start_image_url: first, end_image_url: fileAs(order, 'last_frame', file) };
  return { endpoint: 'image-to-video', input: present({ ...input, ...frames }) };
};

/** Wan 2.6 at fal. Its videos always have sound. */
const mapBeta26: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta26Request;
  const image = fileAs(order, 'first_frame', file);
  refuseIf(asked.template !== undefined, 'template', 'template is not supported here.');
  refuseLackingOfWan(asked);
  refusePromptOfWan(asked.prompt);
  refuseIf(asked.audio === false, 'audio', 'audio must not be false: every video has sound here.');
  const input = present({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    resolution: asked.resolution,
    duration: String(asked.duration),
    enable_prompt_expansion: asked.prompt_extend,
    audio_url: fileAs(order, 'soundtrack', file),
    // The maker's own default is one shot, that of fal several.
    multi_shots: asked.shot_type === 'multi',
    seed: chosenSeed(asked.seed),
  });
  return image === undefined
    ? { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.aspect_ratio } }
    : { endpoint: 'image-to-video', input: { ...input, image_url: image } };
};

const RATIOS: readonly string[] = ['16:9', '9:16', '1:1'];

/** Wan 2.5 preview at fal. Its videos always have sound. */
const mapBeta25Preview: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta25PreviewRequest;
  const image = fileAs(order, 'first_frame', file);
  refuseLackingOfWan(asked);
  refusePromptOfWan(asked.prompt);
  refuseIf(image === undefined && !RATIOS.includes(asked.size), 'size', 'size must be 16:9, 9:16 or 1:1 here.');
  const input = present({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    resolution: asked.resolution,
    duration: String(asked.duration),
    enable_prompt_expansion: asked.prompt_extend,
    audio_url: fileAs(order, 'soundtrack', file),
    seed: asked.seed,
  });
  return image === undefined
    ? { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.size } }
    : { endpoint: 'image-to-video', input: { ...input, image_url: image } };
};

/** Most files of one order, all kinds together. */
const MAX_FILES = 12;

/** Seedance 2.0 at fal: the endpoint follows the files (pages of bytedance/seedance-2.0). */
const mapAlpha: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & AlphaRequest;
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  refuseIf(asked.prompt === undefined, 'prompt', 'prompt is required for this model here.');
  refuseIf(
    asked.return_last_frame,
    'return_last_frame',
    'return_last_frame must be false: no last frame is made here.',
  );
  refuseIf((asked.tools?.length ?? 0) > 0, 'tools', 'tools are not supported here.');
  refuseIf(
    last !== undefined && first === undefined,
    'image_with_roles',
    'image_with_roles needs a first_frame beside the last_frame here.',
  );
  refuseIf(
    order.references.length > MAX_FILES,
    'image_urls',
    `image_urls, video_urls and audio_urls hold at most ${MAX_FILES} files together here.`,
  );
  const input = present({
    prompt: asked.prompt,
    // Sent even where they are the vendor's defaults, which are not ours.
    resolution: asked.resolution,
    duration: String(asked.duration),
    aspect_ratio: asked.size === 'adaptive' ? 'auto' : asked.size,
    generate_audio: asked.generate_audio,
    seed: chosenSeed(asked.seed),
  });
  if (first !== undefined)
    return { endpoint: 'image-to-video', input: present({ ...input, image_url: first, end_image_url: last }) };
  if (order.references.length === 0) return { endpoint: 'text-to-video', input };
  const files = {
    image_urls: referencesOf(order, 'image', file),
    video_urls: referencesOf(order, 'video', file),
    audio_urls: referencesOf(order, 'audio', file),
  };
  return { endpoint: 'reference-to-video', input: present({ ...input, ...files }) };
};

const SEEDREAM = 'fal-ai/bytedance/seedream/v4';

/** Public model to what all its endpoints at fal begin with, and how its orders are written. */
const MODELS: Readonly<Record<string, readonly [name: string, mapping: FalMapping]>> = {
  'alpha-2.0': ['bytedance/seedance-2.0', mapAlpha],
  'alpha-2.0-fast': ['bytedance/seedance-2.0/fast', mapAlpha],
  'beta-2.5-preview': ['fal-ai/wan-25-preview', mapBeta25Preview],
  'beta-2.6': ['wan/v2.6', mapBeta26],
  'beta-2.7': ['fal-ai/wan/v2.7', mapBeta27],
  'beta-2.7-r2v': ['fal-ai/wan/v2.7', mapBeta27R2v],
  'gamma-3.1-fast-official': ['fal-ai/veo3.1/fast', mapGamma],
  'gamma-3.1-quality-official': ['fal-ai/veo3.1', mapGamma],
  'delta-v2-6': ['fal-ai/kling-video/v2.6/pro', mapDelta],
  'epsilon-2.3': ['fal-ai/minimax/hailuo-2.3', mapEpsilon],
  'epsilon-2.3-Fast': ['fal-ai/minimax/hailuo-2.3-fast', mapEpsilon],
  'epsilon-02': ['fal-ai/minimax/hailuo-02', mapEpsilon],
  'zeta-q3-pro': ['fal-ai/vidu/q3', mapZeta],
  'zeta-q3-turbo': ['fal-ai/vidu/q3', mapZeta],
  'eta-image-2.0': ['fal-ai/qwen-image-2', mapEta],
  'eta-image-2.0-pro': ['fal-ai/qwen-image-2/pro', mapEta],
  'theta-image-turbo': ['fal-ai/z-image/turbo', mapTheta],
  'kappa-a-4-0': [SEEDREAM, mapKappa],
  'kappa-b-4.0': [SEEDREAM, mapKappa],
  'kappa-b-4-0': [SEEDREAM, mapKappa],
  'Kappa-B-4.0': [SEEDREAM, mapKappa],
  'iota-1.0-reseller': ['xai/grok-imagine-image', mapIota],
  'iota-1.0-edit-reseller': ['xai/grok-imagine-image', mapIotaEdit],
};

/** The 23 models of ours that fal makes. It has no faces of real people, and no references for zeta. */
export const FAL_MODELS: ReadonlyMap<string, string> = new Map(
  Object.entries(MODELS).map(([model, [name]]) => [model, name]),
);

export const falMappingOf = (model: string): FalMapping | undefined => MODELS[model]?.[1];
