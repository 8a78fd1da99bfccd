import { onPlatform, publicBaseUrl, runProcess } from '#platform';
import { createApi } from './create-api.js';
import { serve } from './serve.js';

await runProcess('api', () =>
  onPlatform(async (platform) => {
    const server = await serve(await createApi(platform), platform);
    return { ready: `API on ${publicBaseUrl(platform.config)}`, stop: (graceMs) => server.stop(graceMs) };
  }),
);
