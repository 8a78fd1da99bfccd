import type { MediaFormat } from '#contracts';

/** What an image's header says. Sides in pixels as shown, with the EXIF orientation applied; each at least 1. */
export interface ImageHeader {
  readonly medium: 'image';
  readonly format: Extract<MediaFormat, 'png' | 'jpeg' | 'webp' | 'gif'>;
  readonly width: number;
  readonly height: number;
}

/** What a video's header says. Sides in pixels as shown, rotation applied, pixels taken as square. */
export interface VideoHeader {
  readonly medium: 'video';
  readonly format: Extract<MediaFormat, 'mp4' | 'mov'>;
  readonly width: number;
  readonly height: number;
  /** Length of the longest image or sound track after edits; above 0. */
  readonly durationSeconds: number;
  readonly hasAudio: boolean;
}

/** What the header of a sound file says. */
export interface SoundHeader {
  readonly medium: 'audio';
  readonly format: Extract<MediaFormat, 'wav' | 'mp3'>;
  /** Above 0. */
  readonly durationSeconds: number;
}

/** What the header of a file says. Headers can lie: good for limits, never for billing. */
export type MediaHeader = ImageHeader | VideoHeader | SoundHeader;
