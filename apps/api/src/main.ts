import { onPlatform, publicBaseUrl, runProcess } from '#platform';
import { createApi } from './create-api.js';
import { seed } from './seed.js';
import { serve } from './serve.js';

await runProcess('api', () =>
  onPlatform(async (platform) => {
    const api = await createApi(platform);
    // Without a chosen key, a fresh production database stays without a key until an admin makes one.
    if (platform.config.server.GATEWAY_API_KEY) await seed(api, platform);
    const server = await serve(api, platform);
    return { ready: `API on ${publicBaseUrl(platform.config)}`, stop: (graceMs) => server.stop(graceMs) };
  }),
);
