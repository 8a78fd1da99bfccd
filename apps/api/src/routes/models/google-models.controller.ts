import { GEMINI_METHODS } from '#contracts';
import { type Caller, TextUpstreams } from '#features';
import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { expectKnown, KnownModels } from './known-models.js';
import { MODEL_OPERATIONS } from './models.openapi.js';

/** A text model as the library of the content-generation style reads it. */
interface GoogleModelView {
  readonly name: `models/${string}`;
  readonly version: string;
  readonly displayName: string;
  readonly description: string;
  readonly inputTokenLimit: number;
  readonly outputTokenLimit: number;
  readonly supportedGenerationMethods: readonly string[];
}

/** The text models in the shape of the content-generation style. It always fits one page. */
@Controller('v1beta/models')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'gemini', scope: 'generate', cors: true })
export class GoogleModelsController {
  constructor(
    private readonly models: KnownModels,
    private readonly upstreams: TextUpstreams,
  ) {}

  /** Every text model that the key may use. */
  @Get()
  @Route({ operation: MODEL_OPERATIONS.listGoogleModels })
  list(@CurrentCaller() caller: Caller): DataWith<object> {
    const models = this.models.text(caller).map((id) => this.viewOf(id));
    return new DataWith({ models }, { models });
  }

  @Get(':target')
  @Route({ operation: MODEL_OPERATIONS.readGoogleModel })
  read(@CurrentCaller() caller: Caller, @Param('target') id: string): DataWith<object> {
    expectKnown(id, this.models.text(caller));
    const view = this.viewOf(id);
    return new DataWith(view, view);
  }

  private viewOf(id: string): GoogleModelView {
    const { contextTokens, maxOutputTokens } = this.upstreams.limitsOf(id);
    return {
      name: `models/${id}`,
      version: '1',
      displayName: id,
      description: 'Text from text and images, with tools, at once or as a stream.',
      inputTokenLimit: contextTokens,
      outputTokenLimit: maxOutputTokens,
      supportedGenerationMethods: [...GEMINI_METHODS, 'countTokens'],
    };
  }
}
