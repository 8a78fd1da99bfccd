import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Inject, NotFoundException, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { JsonObject } from '#contracts';
import { PLATFORM, type Platform, publicBaseUrl } from '#runtime';
import { DECLARED_ROUTES, type DeclaredRoute } from '../http/declared-routes.js';
import { Route, Routes } from '../http/route.js';
import { allowOwnPage } from '../http/security-headers.middleware.js';
import { describeApi } from './describe-api.js';
import { llmsText } from './llms-text.js';

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
