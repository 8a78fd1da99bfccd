import { Type } from 'class-transformer';
import { IsIn, IsNumber, IsOptional, IsUrl, Max, Min } from 'class-validator';
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
    unit: 'share, 0 to 1',
  })
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  @Max(1)
  OTEL_TRACES_SAMPLER_ARG = 1;
}
