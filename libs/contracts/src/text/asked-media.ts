import { isJsonObject } from '../json.js';

const listed = (sent: unknown): readonly unknown[] => (Array.isArray(sent) ? sent : []);

/** Whether a list of modalities names more than text, in capitals or not: images and speech have prices of their own. */
export const namesOtherMedia = (modalities: unknown): boolean =>
  listed(modalities).some((modality) => String(modality).toUpperCase() !== 'TEXT');

/** Whether a list of forms of the answer has one of an image, of speech or of a video. */
export const formatsOtherMedia = (formats: unknown): boolean =>
  listed(formats).some(
    (format) => isJsonObject(format) && Object.keys(format).some((name) => name !== 'text' && format[name] != null),
  );
