import { IsIn, IsOptional, IsUrl } from 'class-validator';
import { Variable } from '../config/variable.js';

/** Where traces, and metrics of calls of models, go. Names are those of the OpenTelemetry specification. */
export class TracingConfig {
  @Variable({
    description:
      'OpenTelemetry collector that receives traces, and metrics of calls of models, over HTTP. When unset, both are off and cost nothing.',
    example: 'http://localhost:4318',
  })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @Variable({ description: 'How they are written: http/protobuf, which every collector takes, or http/json.' })
  @IsIn(['http/protobuf', 'http/json'])
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' | 'http/json' = 'http/protobuf';

  @Variable({
    description: 'Share of traces that is kept. A caller that sends a traceparent decides for its own requests.',
    unit: 'share',
    between: [0, 1],
    fractions: true,
  })
  OTEL_TRACES_SAMPLER_ARG = 1;
}
