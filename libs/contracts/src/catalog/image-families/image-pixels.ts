import type { OutputSize } from '../media-order.js';

/** Output pixels of eta and theta by ratio and resolution. */
export const IMAGE_PIXELS = {
  '1:1': { '1K': [1024, 1024], '2K': [2048, 2048] },
  '4:3': { '1K': [1152, 864], '2K': [2048, 1536] },
  '3:4': { '1K': [864, 1152], '2K': [1536, 2048] },
  '16:9': { '1K': [1280, 720], '2K': [2048, 1152] },
  '9:16': { '1K': [720, 1280], '2K': [1152, 2048] },
  '3:2': { '1K': [1248, 832], '2K': [2048, 1360] },
  '2:3': { '1K': [832, 1248], '2K': [1360, 2048] },
} as const satisfies Record<string, Record<'1K' | '2K', readonly [width: number, height: number]>>;

/** The size of one cell of a pixel table. */
export const fixedSize = ([width, height]: readonly [number, number]): OutputSize => ({ kind: 'fixed', width, height });

/** How long an image task may take, in seconds. */
export const IMAGE_DEADLINE_SECONDS = 600;

/** How long the result links of iota and kappa live, in seconds. */
export const DAY_SECONDS = 86_400;
