import { Required } from './body-check.js';
import { object, text } from './field-checks.js';
import { base64Data } from './image-checks.js';

class InputAudio {
  @Required(base64Data()) data!: string;
  /** `wav` and `mp3` at every vendor that listens. */
  @Required(text({ min: 1, max: 32 })) format!: string;
}

/** A sound inside the request, as chat completions and responses both write it. */
export class AudioPart {
  @Required(object(InputAudio)) input_audio!: InputAudio;
}
