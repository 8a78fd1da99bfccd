import {
  type Beta25PreviewRequest,
  type Beta26Request,
  type Beta27R2vRequest,
  type Beta27Request,
  failedBecause,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  omitUndefined,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type VendorCost,
} from '#contracts';
import {
  cancelledBy,
  chosenSeed,
  fieldIn,
  type FileAddress,
  type MediaCodec,
  NotMakeable,
  type ReadState,
  taskTraits,
} from '../http/media-codec.js';
import { costIn, deliveredVideo, stateBy, taken } from '../http/failure-rules.js';
import { DASHSCOPE, DASHSCOPE_ERRORS, isBeijing } from './dashscope.js';

/** What a model makes a video from: a text alone, or images and videos too. */
type WanKind = 't2v' | 'i2v';

/** The vendor has one model for videos from a text and another for videos from images; in an entry `*` stands for either. */
function wanModel(name: string, kind: WanKind): string {
  const other = kind === 't2v' ? 'i2v' : 't2v';
  if (name.includes(`-${other}`))
    throw new NotMakeable(
      undefined,
      kind === 't2v' ? 'This model makes videos only from images.' : 'This model makes videos only from text.',
    );
  return name.replace('*', kind);
}

const kindOf = ({ references }: PlannedOrder): WanKind =>
  references.some(({ medium }) => medium !== 'audio') ? 'i2v' : 't2v';

/** Request body for beta-2.5-preview: wan2.5. */
function mapBeta25(order: PlannedOrder, name: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & Beta25PreviewRequest;
  const kind = kindOf(order);
  return body(order, name, asked, file, kind === 'i2v' ? { audio: asked.audio } : {});
}

/** Request body for beta-2.6: wan2.6. */
function mapBeta26(order: PlannedOrder, name: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & Beta26Request;
  const { audio, shot_type: shots, template } = asked;
  const made = body(order, name, asked, file, {
    // Videos have sound unless it is said, and only some models have the field.
    ...(kindOf(order) === 'i2v' && audio === false && { audio }),
    ...(shots !== undefined && { shot_type: shots }),
  });
  return template === undefined ? made : { ...made, input: { ...(made['input'] as JsonObject), template } };
}

function body(
  order: PlannedOrder,
  name: string,
  asked: Beta25PreviewRequest | Beta26Request,
  file: FileAddress,
  parameters: JsonObject,
): JsonObject {
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
      ...omitUndefined({ seed: chosenSeed(asked.seed) }),
      ...parameters,
    },
  };
}

/** Pixels where nothing gives the shape, else the class: the vendor's own default is 1080P. */
function sizeOf({ output: { size } }: PlannedOrder, resolution: string): JsonObject {
  if (size.kind === 'fixed') return { size: `${size.width}*${size.height}` };
  return { resolution: resolution.toUpperCase() };
}

/** Request body for beta-2.7: wan2.7 from a text, from frames, or continuing a video. */
function mapBeta27(order: PlannedOrder, name: string, file: FileAddress): JsonObject {
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
function mapBeta27R2v(order: PlannedOrder, name: string, file: FileAddress): JsonObject {
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
  ...omitUndefined({ seed: chosenSeed(asked.seed) }),
});

function mediumOf({ param, medium, role }: PlannedOrder['references'][number], file: FileAddress): JsonObject {
  const url = file(param);
  if (medium === 'video') return { type: 'first_clip', url };
  return { type: medium === 'audio' ? 'driving_audio' : role, url };
}

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';

const taskPath = ({ id }: Operation): string => `/api/v1/tasks/${encodeURIComponent(id as string)}`;

const MAPS = {
  'beta-2.5-preview': mapBeta25,
  'beta-2.6': mapBeta26,
  'beta-2.7': mapBeta27,
  'beta-2.7-r2v': mapBeta27R2v,
};

/** Videos from Alibaba Cloud Model Studio. */
export const dashscopeVideoCodec: MediaCodec = {
  protocol: 'dashscope-video',
  // 20 checks a second for the whole account.
  traits: taskTraits({ firstCheckMs: 15_000, checkEveryMs: 10_000 }),
  defaultBaseUrl: DASHSCOPE.defaultBaseUrl,
  domains: DASHSCOPE.domains,
  models: new Map([
    ['beta-2.5-preview', 'wan2.5-*-preview'],
    ['beta-2.6', 'wan2.6-*'],
    ['beta-2.7', 'wan2.7-*'],
    ['beta-2.7-r2v', 'wan2.7-r2v'],
  ]),
  regionOf: ({ base_url: baseUrl }) => (isBeijing(baseUrl) ? 'cn-beijing' : undefined),
  marks: ['output'],
  authorization: DASHSCOPE.authorization,
  // Videos and sounds are taken by link only.
  referenceForm: ({ medium }, way) => (medium === 'image' ? (way ?? 'sent') : 'url'),

  writeStart: (order, ticket, file) => ({
    method: 'POST',
    path: SYNTHESIS,
    headers: { 'x-dashscope-async': 'enable' },
    body: MAPS[order.model as keyof typeof MAPS](order, ticket.model, file),
  }),
  readStart: ({ output }) => taken(fieldIn(output, 'task_id')),

  nameOf: ({ id }) => id as string,
  writeCheck: (operation) => ({ method: 'GET', path: taskPath(operation) }),
  readCheck: stateOf,
  readFailure: DASHSCOPE_ERRORS.read,

  writeCancel: (operation) => ({ method: 'POST', path: `${taskPath(operation)}/cancel` }),
  // Work that waits is stopped; a refusal says that it does not wait any more.
  readCancel: cancelledBy(400, 404, 409),

  verification: DASHSCOPE.verification,
  readCost: costOf,
};

function stateOf({ output, usage }: JsonObject): ReadState | undefined {
  if (!isJsonObject(output)) return undefined;
  return stateBy(output['task_status'], ['pending', 'running', 'suspended'], {
    succeeded: () => delivered(output, isJsonObject(usage) ? usage : {}),
    failed: () => failedBecause(DASHSCOPE_ERRORS.ofWork(output)),
    canceled: () => failedBecause('work_stopped'),
    unknown: () => failedBecause('work_lost'),
  });
}

function delivered({ video_url: url }: JsonObject, usage: JsonObject): OperationState {
  const { output_video_duration: output, video_duration: whole } = usage;
  const seconds = output ?? whole;
  return deliveredVideo(url, typeof seconds === 'number' ? { seconds } : {});
}

/** What was billed: seconds of a resolution, those of a reference video too. Wan 2.5 has names of its own for both. */
function costOf({ usage }: JsonObject): VendorCost | undefined {
  const { duration, video_duration: seconds, SR: lines, video_ratio: ratio } = isJsonObject(usage) ? usage : {};
  return costIn(`seconds${linesOf(lines) ?? linesOf(ratio) ?? ''}`, duration ?? seconds);
}

/** `_720p` of `720`, `720P` and `1280*720`. */
function linesOf(said: JsonValue | undefined): string | undefined {
  const text = typeof said === 'number' ? String(said) : said;
  const [, sides] = typeof text === 'string' ? (/^(\d{3,4}(?:[*x]\d{3,4})?)p?$/i.exec(text) ?? []) : [];
  return sides && `_${Math.min(...sides.split(/[*x]/i).map(Number))}p`;
}
