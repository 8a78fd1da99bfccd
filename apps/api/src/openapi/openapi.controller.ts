import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Inject, NotFoundException, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { JsonObject } from '#contracts';
import { PLATFORM, type Platform, publicBaseUrl } from '#runtime';
import { DECLARED_ROUTES, type DeclaredRoute } from '../http/declared-routes.js';
import { allowOwnPage } from '../http/response-headers.middleware.js';
import { Route, Routes } from '../http/route.js';
import { describeApi } from './describe-api.js';

/** The page that renders `/openapi.json`. Everything it loads comes from this gateway. */
const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Generation gateway API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/docs.js"></script>
  </body>
</html>
`;

/** Starts the page; a file of its own, because no page of ours may run scripts from within. */
const DOCS_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
});
`;

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The files of the documentation page, by the name they are asked for. */
const ASSETS: Readonly<Record<string, { readonly type: string; readonly read: () => string | Buffer }>> = {
  'docs.js': { type: 'text/javascript', read: () => DOCS_SCRIPT },
  'swagger-ui.css': { type: 'text/css', read: () => readFileSync(join(SWAGGER_UI, 'swagger-ui.css')) },
  'swagger-ui-bundle.js': {
    type: 'text/javascript',
    read: () => readFileSync(join(SWAGGER_UI, 'swagger-ui-bundle.js')),
  },
};

/** The description of the API, for programs and for people; open to everyone. */
@Controller()
@Routes({ style: 'ops', access: 'open' })
export class OpenapiController {
  private readonly document: JsonObject;

  constructor(
    @Inject(DECLARED_ROUTES) routes: readonly DeclaredRoute[],
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {
    this.document = describeApi(routes);
  }

  /** OpenAPI 3.1. */
  @Get('openapi.json')
  @Route({ operation: [], answer: 'native' })
  @Header('access-control-allow-origin', '*')
  read(): JsonObject {
    return this.document;
  }

  /** What a model needs to know to connect a client. */
  @Get('llms.txt')
  @Route({ operation: [], answer: 'native' })
  @Header('access-control-allow-origin', '*')
  llms(@Res() response: Response): void {
    response.type('text/plain').send(llmsText(publicBaseUrl(this.platform.config)));
  }

  /** The same for people, to read and to try. */
  @Get('docs')
  @Route({ operation: [], answer: 'native' })
  page(@Res() response: Response): void {
    allowOwnPage(response);
    response.type('html').send(DOCS_PAGE);
  }

  @Get('docs/:asset')
  @Route({ operation: [], answer: 'native' })
  asset(@Param('asset') name: string, @Res() response: Response): void {
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (!asset) throw new NotFoundException(`The documentation has no file "${name.slice(0, 64)}".`);
    response.type(asset.type).setHeader('cache-control', 'public, max-age=3600').send(asset.read());
  }
}

/**
 * The gateway in words for language models that write code or settings, in the form of llmstxt.org.
 *
 * @param url the address of the gateway, without a path.
 */
const llmsText = (url: string): string => `# Generation gateway

> One address and one API key for text in four interfaces (OpenAI responses, OpenAI chat completions, Anthropic messages, Google
> generateContent), for embeddings, files and vector stores, and for video and image tasks. Every text model answers in every interface.

- Base URL for OpenAI's interfaces: ${url}/v1
- Base URL for Anthropic's and Google's interfaces: ${url}
- Key: \`Authorization: Bearer KEY\`; also \`x-api-key\` (messages) and \`x-goog-api-key\` (generateContent)
- Models: \`GET ${url}/v1/models\`; names match exactly, and nothing stands in front of them
- Errors have the shape of the interface; \`x-should-retry\` says whether to repeat, \`retry-after\` when, \`x-request-id\` what to report
- A 429 of the vendor has the code \`upstream_rate_limited\` and \`x-gateway-limited-by: upstream\`; every other one is a limit of the gateway
- Bodies may have \`Content-Encoding\` gzip, deflate or br; there are no WebSockets

## Clients

- Claude Code: \`ANTHROPIC_BASE_URL=${url}\`, \`ANTHROPIC_AUTH_TOKEN=KEY\`, \`--model MODEL\`
- Codex (\`~/.codex/config.toml\`): a \`[model_providers.gateway]\` with \`base_url = "${url}/v1"\`, \`env_key = "GATEWAY_KEY"\`,
  \`wire_api = "responses"\`, \`supports_websockets = false\`, and \`model_provider = "gateway"\`
- Gemini CLI: \`GOOGLE_GEMINI_BASE_URL=${url}\`, \`GEMINI_API_KEY=KEY\`, \`-m MODEL\`
- opencode: a provider with \`npm: "@ai-sdk/openai-compatible"\` and \`options: { baseURL: "${url}/v1", apiKey: KEY }\`
- openai (Python, JavaScript): \`base_url="${url}/v1"\`; aider, Cline, Roo Code, Continue, Cursor, Open WebUI and LiteLLM take the same
- anthropic (Python, JavaScript): \`base_url="${url}"\`
- google-genai (Python, JavaScript): \`http_options={"base_url": "${url}"}\`
- AI SDK: \`baseURL\` ${url}/v1 for @ai-sdk/openai, openai-compatible and anthropic; ${url}/v1beta for @ai-sdk/google

## Reference

- [OpenAPI 3.1](${url}/openapi.json): every route, field and error
- [The same as a page](${url}/docs): to read and to try
`;
