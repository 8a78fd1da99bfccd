import { createHash } from 'node:crypto';
import {
  type JsonValue,
  MediaFailure,
  type MeasuredReference,
  type MediaOrder,
  type Operation,
  type OutputSize,
  type UpstreamOutput,
} from '#contracts';
import type { RenderRequest, SceneDescription, VideoDescription } from '#sandbox-media';
import { readPromptDirectives, type SandboxFailure } from '../../prompt-directives.js';

/** Pixels, whole numbers. */
interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The exact pixel size of an output. A size taken from a reference keeps its ratio and the planned area as closely as
 * rounding both sides to the planned multiple allows.
 *
 * @throws RangeError when the plan names a reference that is not there or has no size.
 */
export function resolveOutputSize(size: OutputSize, references: readonly MeasuredReference[]): PixelSize {
  if (size.kind === 'fixed') return { width: size.width, height: size.height };
  const reference = references.find(({ param }) => param === size.param);
  if (!reference?.width || !reference.height) {
    throw new RangeError(`the output is to be shaped like ${size.param}, which has no measured size`);
  }
  const ratio = reference.width / reference.height;
  const round = (pixels: number): number => Math.max(1, Math.round(pixels / size.multipleOf)) * size.multipleOf;
  return { width: round(Math.sqrt(size.pixels * ratio)), height: round(Math.sqrt(size.pixels / ratio)) };
}

/** All that is needed to finish an order in any process. Times are milliseconds, `startedAtMs` since 1970. */
export type SandboxOperation = {
  readonly provider: 'sandbox';
  readonly startedAtMs: number;
  /** How long the work takes; null when it never ends. */
  readonly workMs: number | null;
  readonly failure: SandboxFailure | null;
  /** How many of `scene.count` outputs succeed. */
  readonly delivered: number;
  /** The first output; the others differ in `index`. */
  readonly scene: SceneDescription;
  /** Null for images. */
  readonly video: VideoDescription | null;
  readonly lastFrame: boolean;
};

/** Parameters that an image shows in another place, or that say nothing about the wish. */
const SHOWN_ELSEWHERE = new Set(['model', 'prompt', 'seed', 'n', 'watermark']);
const MAX_FACT_CHARACTERS = 200;
/** The longest side of H.264 level 5.2: 543 macroblocks (ITU-T H.264, A.3.1). */
const MAX_VIDEO_SIDE_PIXELS = 8_688;
const URL_SCHEME = 'sandbox:';
/** How the first releases wrote what rows still hold. */
type OlderNames = { readonly film?: VideoDescription | null };
const OLDER_KINDS: Readonly<Record<string, RenderRequest['kind']>> = { picture: 'image', film: 'video' };

/**
 * Turns an order into an operation.
 *
 * @param pretendedWorkMs how long the work takes unless a test word says otherwise.
 * @throws RangeError when the output is to be shaped like a reference that was not measured.
 * @throws MediaFailure `refused` when a video shaped like its reference would be too long and thin.
 */
export function describeOperation(order: MediaOrder, startedAtMs: number, pretendedWorkMs: number): SandboxOperation {
  const { output, parameters, references } = order;
  const prompt = promptOf(order);
  const words = readPromptDirectives(prompt);
  const size = resolveOutputSize(output.size, references);
  if (output.medium === 'video') refuseImpossibleVideo(size);
  const delivered = Math.min(output.count, words.deliverAtMost ?? output.count);
  return {
    provider: 'sandbox',
    startedAtMs,
    workMs: words.hang ? null : (words.delayMs ?? pretendedWorkMs),
    failure: words.failure ?? (delivered === 0 ? 'upstream_error' : null),
    delivered,
    scene: {
      model: order.model,
      prompt,
      seed: seedOf(order),
      index: 0,
      count: output.count,
      ...size,
      watermark: output.watermark,
      facts: [order.mode, ...references.map(describeReference), ...describeParameters(parameters)],
    },
    video:
      output.medium === 'image'
        ? null
        : {
            durationSeconds: output.durationSeconds,
            audibleSeconds: output.audio ? audibleSeconds(output.durationSeconds, references) : null,
          },
    lastFrame: output.medium === 'video' && output.lastFrame,
  };
}

function refuseImpossibleVideo({ width, height }: PixelSize): void {
  if (Math.max(width, height) <= MAX_VIDEO_SIDE_PIXELS) return;
  const rule = `a side is at most ${MAX_VIDEO_SIDE_PIXELS} pixels. Use a reference that is closer to a square.`;
  throw new MediaFailure('refused', 'reference_unusable', {
    sentence: `A video of ${width}x${height} pixels cannot be made: ${rule}`,
  });
}

const notOurs = (sentence: string): MediaFailure => new MediaFailure('refused', 'not_possible', { sentence });

/** @throws MediaFailure `refused` when the operation was not made by the sandbox. */
export function readOperation(operation: Operation): SandboxOperation {
  if (operation['provider'] !== 'sandbox') throw notOurs('The operation is not one of the sandbox.');
  const { film, ...written } = operation as SandboxOperation & OlderNames;
  return film === undefined ? written : { ...written, video: film };
}

/** The files of a finished operation, each with an address from which alone it can be rendered. */
export function outputsOf({ scene, video, lastFrame, delivered }: SandboxOperation): UpstreamOutput[] {
  return Array.from({ length: delivered }, (_, index) => ({ ...scene, index })).flatMap((scene) => {
    if (!video) return [providerOutput('output', 'image/png', { kind: 'image', scene })];
    const outputs = [providerOutput('output', 'video/mp4', { kind: 'video', scene, video })];
    if (lastFrame) outputs.push(providerOutput('last_frame', 'image/png', { kind: 'last_frame', scene, video }));
    return outputs;
  });
}

/** @throws MediaFailure `refused` when the output was not made by the sandbox. */
export function readOutput({ url }: UpstreamOutput): RenderRequest {
  if (!url.startsWith(URL_SCHEME)) throw notOurs('The output is not one of the sandbox.');
  const text = Buffer.from(url.slice(URL_SCHEME.length), 'base64url').toString('utf8');
  const { film, ...written } = JSON.parse(text) as RenderRequest & OlderNames;
  const kind = OLDER_KINDS[written.kind as string] ?? written.kind;
  return { ...written, kind, ...(film ? { video: film } : {}) } as RenderRequest;
}

/** The prompt of an order, which is optional where images lead. */
export function promptOf({ parameters }: MediaOrder): string {
  const { prompt } = parameters;
  return typeof prompt === 'string' ? prompt : '';
}

function providerOutput(role: UpstreamOutput['role'], contentType: string, request: RenderRequest): UpstreamOutput {
  return { role, contentType, url: `${URL_SCHEME}${Buffer.from(JSON.stringify(request)).toString('base64url')}` };
}

/** The seed that was sent; else (absent or -1) one that looks random but is the same whenever this task starts again. */
function seedOf({ parameters, taskId }: MediaOrder): number {
  const { seed } = parameters;
  if (typeof seed === 'number' && seed >= 0) return seed;
  return createHash('sha256').update(taskId).digest().readUInt32BE();
}

/** A given soundtrack sounds as long as it is, at most to the video's end; what is missing stays silent. */
function audibleSeconds(durationSeconds: number, references: readonly MeasuredReference[]): number {
  const soundtrack = references.find(({ role }) => role === 'soundtrack');
  return Math.min(durationSeconds, soundtrack?.durationSeconds ?? durationSeconds);
}

function describeReference(reference: MeasuredReference): string {
  const { param, role, format, bytes, width, height, durationSeconds } = reference;
  const size = width && height ? ` ${width}x${height}` : '';
  const length = durationSeconds ? ` ${durationSeconds} s` : '';
  return `${param} ${role}: ${format}${size}${length} ${bytes} bytes`;
}

/** Every simple field that was sent or set by default; files are described by what was measured in them. */
function describeParameters(parameters: MediaOrder['parameters']): string[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    !SHOWN_ELSEWHERE.has(name) && isPlain(value) ? [`${name}: ${value}`] : [],
  );
}

function isPlain(value: JsonValue): value is string | number | boolean {
  if (typeof value === 'string') return value.length <= MAX_FACT_CHARACTERS && !/^(https?|data):/i.test(value);
  return typeof value === 'number' || typeof value === 'boolean';
}
