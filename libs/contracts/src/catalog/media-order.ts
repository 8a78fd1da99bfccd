import type { JsonObject } from '../json.js';

/** What a task produces. */
export const MEDIA = ['video', 'image'] as const;
export type Medium = (typeof MEDIA)[number];

/** The submission paths for videos and images; each serves its own families. */
export type SubmissionPath = '/v1/videos/generations' | '/v1/images/generations' | '/v1/images/edits';

/** File types a reference may have, judged by its first bytes and never by its name. */
export type MediaFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'mp4' | 'mov' | 'wav' | 'mp3';

/** What files of each type are sent as. */
export const CONTENT_TYPES: Readonly<Record<MediaFormat, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
};

/** What a referenced file must be. Sides in pixels, ratio as width / height, lengths in seconds. All bounds inclusive. */
export interface MediaLimits {
  readonly formats: readonly MediaFormat[];
  readonly maxBytes: number;
  readonly minSidePixels?: number;
  readonly maxSidePixels?: number;
  /** Bounds on the shorter side, the number in "480p". */
  readonly minShortSidePixels?: number;
  readonly maxShortSidePixels?: number;
  readonly maxPixels?: number;
  readonly ratio?: { readonly min: number; readonly max: number };
  readonly minSeconds?: number;
  readonly maxSeconds?: number;
}

/** One file a request points at: by public URL, or inline as a data URI. */
export interface MediaReference {
  /** Where it is in the request, for example `image_urls[0]` or `image_with_roles[1].url`. */
  readonly param: string;
  readonly medium: 'image' | 'video' | 'audio';
  readonly role: 'first_frame' | 'last_frame' | 'reference' | 'soundtrack' | 'voice';
  readonly source: string;
  readonly limits: MediaLimits;
}

/** A bound on the summed length of several references, for example three audio files of 15 s together. */
export interface TotalSecondsLimit {
  /** The field that holds them, for example `audio_urls`. */
  readonly param: string;
  readonly medium: 'video' | 'audio';
  readonly maxSeconds: number;
}

/** What the header of a checked reference said. */
export interface MeasuredReference {
  readonly param: string;
  readonly medium: 'image' | 'video' | 'audio';
  readonly role: MediaReference['role'];
  readonly source: string;
  readonly format: MediaFormat;
  readonly bytes: number;
  /** Display size, rotation applied; absent for audio. */
  readonly width?: number;
  readonly height?: number;
  readonly durationSeconds?: number;
}

/** The pixel size of an output: fixed by a table, or taken from the ratio of a reference. */
export type OutputSize =
  | { readonly kind: 'fixed'; readonly width: number; readonly height: number }
  | {
      readonly kind: 'like-reference';
      /** The `param` of the reference whose ratio counts. */
      readonly param: string;
      /** The area to keep while taking the ratio, in pixels. */
      readonly pixels: number;
      /** Both sides are rounded to a multiple of this. */
      readonly multipleOf: number;
    };

/** What a request must yield, exactly. */
export type OutputPlan =
  | {
      readonly medium: 'video';
      readonly count: number;
      readonly size: OutputSize;
      readonly durationSeconds: number;
      readonly audio: boolean;
      /** Whether the last frame is delivered as an image of its own. */
      readonly lastFrame: boolean;
      readonly watermark: boolean;
    }
  | { readonly medium: 'image'; readonly count: number; readonly size: OutputSize; readonly watermark: boolean };

/** What a price is multiplied with, and which price: `variant` is a key of the model's prices. */
export interface Billing {
  readonly unit: 'second' | 'image';
  /** Which of the model's prices applies, for example `720p`, `1080p+audio` or `default`. */
  readonly variant: string;
  /** How many units are held at submission. */
  readonly quantity: number;
  /** Whether the final charge counts delivered outputs (`per-output`) or the request as held (`as-held`). */
  readonly settle: 'per-output' | 'as-held';
}

/** A request that passed every rule of its family. `parameters` carry wire names, with the defaults filled in. */
export interface ModelRequest {
  readonly model: string;
  readonly family: string;
  readonly medium: Medium;
  readonly path: SubmissionPath;
  /** How the request was routed by its content, for example `text-to-video`. */
  readonly mode: string;
  readonly parameters: JsonObject;
  /** Things the caller should know although the request was accepted. */
  readonly notices: readonly string[];
}
