import {
  type AlphaRequest,
  type Beta25PreviewRequest,
  type Beta26Request,
  type Beta27R2vRequest,
  type Beta27Request,
  type DeltaV26Request,
  type Epsilon02Request,
  type Epsilon23Request,
  type EtaRequest,
  type GammaRequest,
  type IotaEditRequest,
  type IotaRequest,
  type JsonObject,
  type JsonValue,
  type KappaRequest,
  omitUndefined,
  type PlannedOrder,
  type ThetaRequest,
  type ZetaQ3ProRequest,
} from '#contracts';
import { chosenSeed, type FileAddress, fileAs, framesOf, referencesOf, refuseIf } from '../http/media-codec.js';

/** An order in fal's words: `endpoint` is what follows the model's name in the address, if anything does. */
interface FalOrder {
  readonly endpoint?: string;
  readonly input: JsonObject;
}

/** Writes the orders of one family. @throws NotMakeable for what fal lacks. */
type FalMapping = (order: PlannedOrder, file: FileAddress) => FalOrder;

/** Pixels of an order whose family fixes them. */
function pixelsOf({ output }: PlannedOrder): JsonObject | undefined {
  return output.size.kind === 'fixed' ? { width: output.size.width, height: output.size.height } : undefined;
}

/** Qwen-Image 2.0 at fal. */
const mapEta: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & EtaRequest;
  const images = referencesOf(order, 'image', file);
  const input = {
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    image_size: pixelsOf(order),
    num_images: asked.n,
    image_urls: images,
  };
  return { endpoint: images === undefined ? 'text-to-image' : 'edit', input: omitUndefined(input) };
};

/** Z-Image turbo at fal. */
const mapTheta: FalMapping = (order) => {
  const asked = order.parameters as JsonObject & ThetaRequest;
  const input = {
    prompt: asked.prompt,
    image_size: pixelsOf(order),
    enable_prompt_expansion: asked.prompt_extend,
    num_images: 1,
  };
  return { input: omitUndefined(input) };
};

/** Seedream 4.0 at fal. */
const mapKappa: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & KappaRequest;
  const images = referencesOf(order, 'image', file);
  const several = images !== undefined && asked.sequential_image_generation === 'auto';
  const input = {
    prompt: asked.prompt,
    image_size: pixelsOf(order) ?? `auto_${asked.resolution}`,
    num_images: 1,
    max_images: several ? order.output.count : undefined,
    enhance_prompt_mode: asked.optimize_prompt_options,
    image_urls: images,
  };
  return { endpoint: images === undefined ? 'text-to-image' : 'edit', input: omitUndefined(input) };
};

const mapIota: FalMapping = (order) => {
  const { prompt, size, n } = order.parameters as JsonObject & IotaRequest;
  return { input: { prompt, aspect_ratio: size, num_images: n } };
};

/** Grok Imagine with an image at fal: the shape follows the image. */
const mapIotaEdit: FalMapping = (order, file) => {
  const { prompt, n } = order.parameters as JsonObject & IotaEditRequest;
  return { endpoint: 'edit', input: { prompt, num_images: n, image_urls: [file('image_urls[0]')] } };
};

/** Veo 3.1 at fal. */
const mapGamma: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & GammaRequest;
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  const input = omitUndefined({
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

/** Hailuo at fal: 1080p is a path of its own, and lasts 6 s. What is sold as 5 s is made as 6. */
const mapEpsilon: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & (Epsilon02Request | Epsilon23Request);
  const { first, last } = framesOf(order, file, 'last_frame_image');
  const grade = asked.resolution === '1080p' ? 'pro' : 'standard';
  return {
    endpoint: `${grade}/${first === undefined ? 'text' : 'image'}-to-video`,
    input: omitUndefined({
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
  return { endpoint: 'image-to-video', input: omitUndefined({ ...input, ...frames }) };
};

/** What Wan 2.5 preview and 2.6 have in common at fal. Their videos always have sound. */
function beta(order: PlannedOrder, file: FileAddress, aspect_ratio: JsonValue | undefined, own: JsonObject): FalOrder {
  const asked = order.parameters as JsonObject & (Beta25PreviewRequest | Beta26Request);
  const image = fileAs(order, 'first_frame', file);
  const input = omitUndefined({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    resolution: asked.resolution,
    duration: String(asked.duration),
    enable_prompt_expansion: asked.prompt_extend,
    audio_url: fileAs(order, 'soundtrack', file),
    seed: chosenSeed(asked.seed),
    ...own,
  });
  return image === undefined
    ? { endpoint: 'text-to-video', input: omitUndefined({ ...input, aspect_ratio }) }
    : { endpoint: 'image-to-video', input: { ...input, image_url: image } };
}

/** Wan 2.6. The maker's own default is one shot, that of fal several. */
const mapBeta26: FalMapping = (order, file) => {
  const { aspect_ratio: ratio, shot_type: shots } = order.parameters as JsonObject & Beta26Request;
  return beta(order, file, ratio, { multi_shots: shots === 'multi' });
};

const mapBeta25Preview: FalMapping = (order, file) => beta(order, file, order.parameters['size'], {});

/** Wan 2.7 at fal: from a text, from frames, or as the continuation of a video. */
const mapBeta27: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta27Request;
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  const video = referencesOf(order, 'video', file)?.[0];
  refuseIf(
    last !== undefined && first === undefined && video === undefined,
    'image_with_roles',
    'image_with_roles needs a first_frame beside the last_frame here.',
  );
  const input = omitUndefined({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    resolution: asked.resolution.toLowerCase(),
    duration: asked.duration,
    enable_prompt_expansion: asked.prompt_extend,
    audio_url: fileAs(order, 'soundtrack', file),
    seed: asked.seed,
  });
  if (order.mode === 'text-to-video')
    return { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.size } };
  const frames = { image_url: first, end_image_url: last, video_url: video };
  return { endpoint: 'image-to-video', input: omitUndefined({ ...input, ...frames }) };
};

/** Wan 2.7 with the characters of references, at fal. */
const mapBeta27R2v: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta27R2vRequest;
  const roles = new Set(order.references.map(({ role }) => role));
  refuseIf(roles.has('first_frame'), 'image_with_roles', 'image_with_roles takes no first_frame here.');
  refuseIf(roles.has('voice'), 'image_with_roles', 'image_with_roles takes no reference_voice here.');
  return {
    endpoint: 'reference-to-video',
    input: omitUndefined({
      prompt: asked.prompt,
      negative_prompt: asked.negative_prompt,
      resolution: asked.resolution.toLowerCase(),
      duration: asked.duration,
      aspect_ratio: asked.size,
      multi_shots: false,
      reference_image_urls: referencesOf(order, 'image', file),
      reference_video_urls: referencesOf(order, 'video', file),
      seed: asked.seed,
    }),
  };
};

/** Vidu Q3 pro and turbo at fal. */
const mapZeta: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & ZetaQ3ProRequest;
  const first = fileAs(order, 'first_frame', file);
  const speed = asked.model === 'zeta-q3-turbo' ? '/turbo' : '';
  const input = omitUndefined({
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

/** Most files of one order, all kinds together. */
const MAX_FILES = 12;

/** Seedance 2.0 at fal: the endpoint follows the files (pages of bytedance/seedance-2.0). */
const mapAlpha: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & AlphaRequest;
  const { first, last } = framesOf(order, file, 'image_with_roles');
  refuseIf(
    order.references.length > MAX_FILES,
    'image_urls',
    `image_urls, video_urls and audio_urls hold at most ${MAX_FILES} files together here.`,
  );
  const input = omitUndefined({
    prompt: asked.prompt,
    // Sent even where they are the vendor's defaults, which are not ours.
    resolution: asked.resolution,
    duration: String(asked.duration),
    aspect_ratio: asked.size === 'adaptive' ? 'auto' : asked.size,
    generate_audio: asked.generate_audio,
    seed: chosenSeed(asked.seed),
  });
  if (first !== undefined)
    return { endpoint: 'image-to-video', input: omitUndefined({ ...input, image_url: first, end_image_url: last }) };
  if (order.references.length === 0) return { endpoint: 'text-to-video', input };
  const files = {
    image_urls: referencesOf(order, 'image', file),
    video_urls: referencesOf(order, 'video', file),
    audio_urls: referencesOf(order, 'audio', file),
  };
  return { endpoint: 'reference-to-video', input: omitUndefined({ ...input, ...files }) };
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
