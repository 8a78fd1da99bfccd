// Compares the compiled check of a submission with plain class-validator on the same class: CPU per request, and the ratio.
import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { familyOf, type JsonObject, readModelRequest } from '#contracts';

/** The bar of a check, in CPU microseconds, for the largest family. */
const BAR_MICROSECONDS = 150;

const WARM_UP_ROUNDS = 2_000;
const ROUNDS = 20_000;

const url = (name: string) => `https://media.example.com/uploads/2026/${name}`;
const prompt = 'A heron lifts off a misty lake while the camera pans left, slow and steady. '.repeat(10).trim();

/** Bodies that fill nearly every field of the largest families, and a small one. */
const BODIES: Readonly<Record<string, JsonObject & { readonly model: string }>> = {
  'alpha, every field': {
    model: 'alpha-2.0-face',
    prompt,
    duration: 10,
    size: '16:9',
    resolution: '1080P',
    seed: 42,
    generate_audio: true,
    return_last_frame: true,
    tools: [{ type: 'web_search' }],
    image_urls: Array.from({ length: 9 }, (_, index) => url(`${index}.png`)),
    video_urls: [url('a.mp4'), url('b.mp4'), url('c.mp4')],
    audio_urls: [url('a.mp3'), url('b.mp3'), url('c.mp3')],
  },
  'kappa, every field': {
    model: 'kappa-a-4-0',
    prompt,
    size: 'auto',
    resolution: '4K',
    n: 5,
    image_urls: Array.from({ length: 10 }, (_, index) => url(`${index}.png`)),
    optimize_prompt_options: 'fast',
    sequential_image_generation: 'auto',
    sequential_image_generation_options: { max_images: 5 },
    watermark: true,
  },
  'eta, a text': { model: 'eta-image-2.0', prompt, size: '16:9', resolution: '2K', n: 2 },
};

async function cpuMicrosecondsOf(work: () => unknown): Promise<number> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await work();
  const started = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / ROUNDS;
}

let slowest = 0;
console.log('CPU per checked request, in microseconds');
for (const [name, body] of Object.entries(BODIES)) {
  const family = familyOf(body.model);
  if (!family) throw new Error(`no family has ${body.model}`);
  const ours = await cpuMicrosecondsOf(() => readModelRequest(family.path, body));
  const plain = await cpuMicrosecondsOf(() => validate(plainToInstance(family.table, body)));
  slowest = Math.max(slowest, ours);
  console.log(
    `${name.padEnd(20)} ours ${ours.toFixed(1).padStart(7)}   class-validator ${plain.toFixed(1).padStart(7)}   ratio ${(ours / plain).toFixed(3)}`,
  );
}
console.log(`bar: at most ${BAR_MICROSECONDS}; ${slowest <= BAR_MICROSECONDS ? 'met' : 'missed'}`);
if (slowest > BAR_MICROSECONDS) process.exitCode = 1;
