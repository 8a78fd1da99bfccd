import { Body, Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type ConsoleModel, type ConsoleProblem, type ConsoleQuote, GatewayError } from '#contracts';
import { SubmissionService } from '#features';
import { IdempotentRequests } from '../http/idempotent-requests.js';
import { SerializedBody } from '../http/serialized-body.js';
import { submissionContext } from '../http/submitted.js';
import { expectKnown, KnownModels, ModelViews } from '../routes/models/known-models.js';
import type { ModelView } from '../routes/models/model-view.js';
import { familyNamedIn, Quotes, type QuoteView } from '../routes/quote/quotes.js';
import { callerOf } from '../http/api-key.guard.js';
import { PageRoute, ConsoleRoutes, everyModel } from './console-routes.js';
import { timeOf } from './views.js';
import { Reply } from '../http/route.js';

/** The catalogue, prices before a run, and runs. */
@ConsoleRoutes()
export class PlaygroundController {
  constructor(
    private readonly known: KnownModels,
    private readonly models: ModelViews,
    private readonly quotes: Quotes,
    private readonly submissions: SubmissionService,
    private readonly idempotent: IdempotentRequests,
  ) {}

  @PageRoute('GET /models')
  async list(@Req() request: Request) {
    return {
      items: (await this.models.of(this.known.all(everyModel(request)), request.caller?.priceList)).map(toModel),
    };
  }

  @PageRoute('GET /models/:model')
  async read(@Param('model') id: string, @Req() request: Request) {
    expectKnown(id, this.known.all(everyModel(request)));
    return toModel(await this.models.one(id, request.caller?.priceList));
  }

  /** A request that would be refused is no failure of the quote: the form shows why, at its field. */
  @PageRoute('POST /quote', { cost: 'always', body: 'images' })
  async quote(@Body() body: unknown, @Req() request: Request) {
    try {
      return { quote: toQuote(await this.quotes.of(callerOf(request), body)), problems: [] };
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status >= 500) throw error;
      return { quote: null, problems: toProblems(error) };
    }
  }

  @PageRoute('POST /runs', { cost: 'task', body: 'images' })
  async run(@Req() request: Request, @Reply() response: Response) {
    const answer = await this.idempotent.answer(request, response, async () => {
      const family = familyNamedIn(request.body);
      const context = submissionContext(request);
      const { taskId } = await this.submissions.submit(family.path, callerOf(request), request.body, context);
      return SerializedBody.json({ data: [{ task_id: taskId }] });
    });
    return taskIn(answer);
  }
}

/** A repeat is answered with what was kept of the first, which may have the shape of a submission. */
function taskIn(answer: SerializedBody | undefined): { task_id: string } {
  const { data } = JSON.parse(answer?.text ?? '{}') as { data?: readonly { task_id: string }[] };
  const [first] = data ?? [];
  if (!first) throw new Error('A submission was answered without a task');
  return { task_id: first.task_id };
}

/** Without what only client libraries read. */
function toModel(view: ModelView): ConsoleModel {
  const { object: _object, created: _created, owned_by: _owner, type: _type, display_name: _name, ...model } = view;
  const { created_at: _time, limits: _limits, traits: _traits, ...shown } = model;
  return shown;
}

function toQuote({
  object: _object,
  valid: _valid,
  currency: _currency,
  valid_until,
  ...quote
}: QuoteView): ConsoleQuote {
  return { ...quote, valid_until: valid_until === null ? null : timeOf(valid_until) };
}

function toProblems({ code, publicMessage: message, param, details }: GatewayError): ConsoleProblem[] {
  if (!details) return [{ code, field: param ?? null, message }];
  return details.map((each) => ({ code: each.code, field: each.param, message: each.message }));
}
