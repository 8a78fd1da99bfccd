import {
  type Attributes,
  context,
  type Histogram,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { GatewayError } from '#contracts';
import { fail, inSpan, markFailed } from './span.js';
import { isTracing } from './tracing.js';

/**
 * Names of the semantic conventions of OpenTelemetry for generative AI, which are in development: all that is renamed there is
 * renamed here. What is said to a model, and what it answers, is never an attribute.
 */
const NAMES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  maxTokens: 'gen_ai.request.max_tokens',
  conversation: 'gen_ai.conversation.id',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  error: 'error.type',
  tokenType: 'gen_ai.token.type',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
} as const;

interface Instruments {
  readonly duration: Histogram;
  readonly firstChunk: Histogram;
  readonly tokens: Histogram;
}

/** The bounds that the conventions ask for: powers of two and of four. */
const SECONDS = {
  unit: 's',
  advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, n) => 0.01 * 2 ** n) },
};
const TOKENS = { unit: '{token}', advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, n) => 4 ** n) } };

let known: { readonly provider: unknown; readonly instruments: Instruments } | undefined;

/** Those of the export that runs now. */
function instruments(): Instruments {
  const provider = metrics.getMeterProvider();
  if (known?.provider === provider) return known.instruments;
  const meter = provider.getMeter('generation-gateway');
  const made = {
    duration: meter.createHistogram('gen_ai.client.operation.duration', SECONDS),
    firstChunk: meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', SECONDS),
    tokens: meter.createHistogram('gen_ai.client.token.usage', TOKENS),
  };
  known = { provider, instruments: made };
  return made;
}

/** How the conventions call the vendor whose protocol an upstream speaks. */
const VENDORS = {
  responses: 'openai',
  chat: 'openai',
  messages: 'anthropic',
  gemini: 'gcp.gemini',
  sandbox: 'sandbox',
};

export interface VendorCallSubject {
  readonly upstream: string;
  readonly protocol: keyof typeof VENDORS;
  /** As the upstream calls it. */
  readonly model: string;
  readonly stream: boolean;
  readonly session?: string | undefined;
  /** The output limit, in tokens. */
  readonly maxTokens?: number | undefined;
  /** Absent: text is made. */
  readonly operation?: 'embeddings';
}

export interface CalledUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

/** What a vendor says of a reply beside its words. */
interface CalledReply {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly finishReason: string | undefined;
}

/** The span of one try at one vendor, from the request to the last word of the reply, and its part in the metrics. */
export class VendorCall {
  private readonly startedAt = performance.now();
  private readonly span: Span;

  private readonly kind: Attributes;

  constructor(private readonly subject: VendorCallSubject) {
    const { upstream, protocol, model, stream, session, maxTokens } = subject;
    const operation = subject.operation ?? (protocol === 'gemini' ? 'generate_content' : 'chat');
    this.kind = {
      [NAMES.operation]: operation,
      [NAMES.provider]: VENDORS[protocol],
      [NAMES.requestModel]: model,
    };
    const attributes: Attributes = {
      upstream,
      ...this.kind,
      [NAMES.stream]: stream,
      ...(session !== undefined && { [NAMES.conversation]: session }),
      ...(maxTokens !== undefined && { [NAMES.maxTokens]: maxTokens }),
    };
    const tracer = trace.getTracer('generation-gateway');
    this.span = tracer.startSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, attributes });
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return context.with(trace.setSpan(context.active(), this.span), work);
  }

  /** The first sign of the reply is there. */
  replied(): void {
    const seconds = this.seconds();
    this.span.setAttribute(NAMES.firstChunk, seconds);
    if (this.subject.stream) instruments().firstChunk.record(seconds, this.kind);
  }

  /** It came to nothing: only the name of the failure is told. @param hasLeft whether its caller ended it. */
  fail(error: unknown, hasLeft = false): void {
    const name = hasLeft ? 'aborted' : error instanceof GatewayError ? error.code : 'error';
    this.span.setAttribute(NAMES.error, name);
    instruments().duration.record(this.seconds(), { ...this.kind, [NAMES.error]: name });
    fail(this.span, error);
    this.span.end();
  }

  /** What the vendor says of its reply; looked up only where it is traced. */
  named(reply: () => CalledReply): void {
    if (!this.span.isRecording()) return;
    const { id, model, finishReason } = reply();
    if (id !== undefined) this.span.setAttribute(NAMES.responseId, id);
    if (model !== undefined) this.span.setAttribute(NAMES.responseModel, model);
    if (finishReason !== undefined) this.span.setAttribute(NAMES.finishReasons, [finishReason]);
  }

  /** The reply is over. */
  end(usage: CalledUsage | undefined, status: 'completed' | 'failed' | 'aborted'): void {
    const { duration, tokens } = instruments();
    if (usage) {
      this.span.setAttributes({
        [NAMES.inputTokens]: usage.inputTokens,
        [NAMES.outputTokens]: usage.outputTokens,
        [NAMES.cacheReadTokens]: usage.cachedInputTokens,
        [NAMES.cacheWriteTokens]: usage.cacheWriteTokens,
        [NAMES.reasoningTokens]: usage.reasoningTokens,
      });
      tokens.record(usage.inputTokens, { ...this.kind, [NAMES.tokenType]: 'input' });
      if (this.subject.operation !== 'embeddings')
        tokens.record(usage.outputTokens, { ...this.kind, [NAMES.tokenType]: 'output' });
    }
    if (status !== 'completed') markFailed(this.span, status);
    duration.record(this.seconds(), { ...this.kind, ...(status !== 'completed' && { [NAMES.error]: status }) });
    this.span.end();
  }

  private seconds(): number {
    return (performance.now() - this.startedAt) / 1000;
  }
}

/** A call of a tool that the gateway runs. */
interface ToolCallSubject {
  readonly name: string;
  /** `datastore`: it searches what is kept here; `extension`: it asks a server outside. */
  readonly type: 'datastore' | 'extension';
  readonly callId: string;
}

/** Runs a tool of the gateway inside a span of its own. Neither what it is called with nor what it answers is told. */
export const inToolCall = <Result extends { readonly isError: boolean }>(
  { name, type, callId }: ToolCallSubject,
  work: () => Promise<Result>,
): Promise<Result> =>
  inSpan(
    {
      name: `execute_tool ${name}`,
      kind: 'internal',
      attributes: {
        [NAMES.operation]: 'execute_tool',
        [NAMES.tool]: name,
        [NAMES.toolType]: type,
        [NAMES.toolCall]: callId,
      },
    },
    async () => {
      const result = await work();
      if (result.isError)
        trace.getActiveSpan()?.setAttribute(NAMES.error, 'tool_error').setStatus({ code: SpanStatusCode.ERROR });
      return result;
    },
  );

/** Undefined when nothing is traced. */
export const beginVendorCall = (subject: () => VendorCallSubject): VendorCall | undefined =>
  isTracing() ? new VendorCall(subject()) : undefined;
