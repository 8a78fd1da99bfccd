/** Samples a second of the sandbox's sound, and samples in one AAC frame. */
export const SAMPLES_PER_SECOND = 48_000;
export const SAMPLES_PER_AUDIO_FRAME = 1_024;

/** How the frames are to be decoded (`AudioSpecificConfig`): AAC-LC, 48 kHz, one channel. */
export const AUDIO_CONFIGURATION = Uint8Array.of(0x11, 0x88);

/** A decoder needs one frame to warm up; players skip it. */
const PRIMING_FRAMES = 1;

const SECONDS_PER_TONE = 0.5;

const SILENT_FRAME = decode('ARggBw==');

/**
 * AAC-LC frames of pure tones. Their periods divide 1024 samples, so all frames of a tone are the same bytes, and repeating
 * one is the tone: sound without an audio encoder.
 */
const TONES = [
  { hertz: 187.5, frame: 'AP4sLQD9CBKcQ7WIBlEsz8aCHxb/pik/6RXxlJfFzQErnRyHQvwfk/wLdMJdGf1u1JRhQ4A=' },
  { hertz: 234.375, frame: 'AP4sLSDtCAvHGLa0iTBLI5n40k/iz/TNIf0gvjOR+LeaITEkk9MIdC/CGT/Aj00l0R/W60lGFDg=' },
  { hertz: 281.25, frame: 'AP4sLUIQZoQCeTkDujHPxAEslmfjWQ+LH9NQn/R7+NBL4tZvH8qThEl9OIdC/COT/AZ04l0N/W60lGOjQcA=' },
  {
    hertz: 328.125,
    frame:
      'AP4srWhwLogB58oBywJmGMsRzvLI5j42E/it/TbIf0c/jUR+LGbx5KpnjgCS+nkOg/hMJ/gH6cS6E/l9M6UyyeFC0SEhISEhISElbt3J34A=',
  },
  {
    hertz: 375,
    frame:
      'APQsrWhwLonYB8dAOuwxO1ijHEs6SyWY+NpD4q/04yf9Gv41kvivmycoGLOH1QkzqBDoH4UCf4Aunkugv5fTRVaOjM3QkJCQkJCQkJCSt27lwA==',
  },
  {
    hertz: 421.875,
    frame:
      'AOQsLYhwJoX22AfuAeYg1OpnbEsRzvLI5j43k/in/TqIf0ZPjYR+K2cISgYq6ivPCTOokOf/hVJ/f3qBLoD+X0woyyeKASEhISEhISEhISE3bt3J+A==',
  },
  {
    hertz: 468.75,
    frame:
      'AOQsLYhwJoWfkA++gHoETC7rlYojiWdJZLMfHAh8Uv6eJP+i58biXxUzhOSDFoaeM88JM6kQ59+Fon99+okufv5fTUy1HRlCQkJCQkJCQkJCQkrdu3eA',
  },
  {
    hertz: 562.5,
    frame:
      'AOotLaiAFo2vH5B9/s+uIkg8pAKMUhRO1Ewwa3FEqnnUh5f/d0T/ah5zJeYa9TogyyeWWY2WCQN8Q2HybJ/FXektgK8xlk8KD2iQkJCQkJCQkqEhN27du5O/',
  },
].map(({ frame }) => decode(frame));

function decode(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, 'base64'));
}

/** AAC frames and how many of their first samples a player leaves out. */
export interface Sound {
  readonly frames: readonly Uint8Array[];
  readonly primingSamples: number;
}

/**
 * A melody that changes its tone twice a second, then silence.
 *
 * @param melody chooses the tones; its bytes are used in turn.
 * @param durationSeconds length of the sound, silence included.
 * @param audibleSeconds how much of it sounds.
 */
export function composeSound(melody: Uint8Array, durationSeconds: number, audibleSeconds: number): Sound {
  const secondsPerFrame = SAMPLES_PER_AUDIO_FRAME / SAMPLES_PER_SECOND;
  const frameCount = Math.ceil(durationSeconds / secondsPerFrame) + PRIMING_FRAMES;
  const frames = Array.from({ length: frameCount }, (_, index) => {
    const seconds = Math.max(0, index - PRIMING_FRAMES) * secondsPerFrame;
    if (seconds >= audibleSeconds) return SILENT_FRAME;
    const note = melody[Math.floor(seconds / SECONDS_PER_TONE) % melody.length] ?? 0;
    return TONES[note % TONES.length] ?? SILENT_FRAME;
  });
  return { frames, primingSamples: PRIMING_FRAMES * SAMPLES_PER_AUDIO_FRAME };
}
