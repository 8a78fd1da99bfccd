import { GatewayError } from '#contracts';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { isTracing } from './tracing.js';

/** Asked for each time: it belongs to the tracing that runs now. */
const tracer = (): Tracer => trace.getTracer('generation-gateway');

export interface SpanSubject {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: Attributes;
  /** Headers of a request whose sender may have begun the trace (W3C traceparent). */
  readonly carrier?: Readonly<Record<string, string | string[] | undefined>>;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Runs `work` inside a span that ends with it and carries its failure. Without tracing it only runs `work`. */
export const inSpan = <Result>(subject: SpanSubject, work: () => Promise<Result>): Promise<Result> =>
  isTracing() ? traced(subject, work) : work();

async function traced<Result>(subject: SpanSubject, work: () => Promise<Result>): Promise<Result> {
  const span = openSpan(subject);
  try {
    return await context.with(trace.setSpan(parentOf(subject), span), work);
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed. Only names go to the collector: a message or a stack may hold prompts, keys and addresses. */
export function fail(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error;
  span.recordException(error instanceof GatewayError ? { name, code: error.code } : { name });
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Marks a span as one that came to nothing, by the name of the failure alone. */
export function markFailed(span: Span, name: string): void {
  span.setAttribute('error.type', name).setStatus({ code: SpanStatusCode.ERROR });
}

/** Runs `next` inside a span that the caller ends; undefined when nothing is traced. For callback-style middleware. */
export function enterSpan(subject: SpanSubject, next: () => void): Span | undefined {
  if (!isTracing()) {
    next();
    return undefined;
  }
  const span = openSpan(subject);
  context.with(trace.setSpan(parentOf(subject), span), next);
  return span;
}

const parentOf = ({ carrier }: SpanSubject): Context =>
  carrier === undefined ? context.active() : propagation.extract(context.active(), carrier);

const openSpan = (subject: SpanSubject): Span =>
  tracer().startSpan(
    subject.name,
    { kind: KINDS[subject.kind], ...(subject.attributes && { attributes: subject.attributes }) },
    parentOf(subject),
  );

/** The trace that log lines and the current work belong to; undefined outside of any. */
export function currentTraceId(): string | undefined {
  if (!isTracing()) return undefined;
  return trace.getActiveSpan()?.spanContext().traceId;
}
