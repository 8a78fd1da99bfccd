import { Type } from 'class-transformer';
import {
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsUrl,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { TEXT_PROTOCOLS, type TextProtocol } from '#contracts';

const LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

const BASE_URL = {
  protocols: ['http', 'https'],
  require_protocol: true,
  require_tld: false,
  disallow_auth: true,
  allow_query_components: false,
  allow_fragments: false,
};

/** A key goes into a header, where a line break would fail every request. */
export const IsUpstreamKey = (): PropertyDecorator =>
  Matches(/^[\x21-\x7e]{1,8192}$/, {
    message: '$property must be 1 to 8192 printable ASCII characters without spaces',
  });

/** How long an upstream may take, in seconds. */
export class UpstreamTimeoutsEntry {
  @IsNumber()
  @Min(0.1)
  @Max(120)
  connect_seconds = 5;

  /** Until the reply begins; a model may think for minutes. */
  @IsNumber()
  @Min(0.1)
  @Max(3_600)
  first_byte_seconds = 600;

  /** Between two pieces of a reply. */
  @IsNumber()
  @Min(0.1)
  @Max(3_600)
  idle_seconds = 300;
}

/** One upstream, in UPSTREAMS_FILE and in the admin API alike. */
export class UpstreamEntry {
  /** Names the upstream in logs and usage records. */
  @Matches(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
    message: '$property must be 1 to 63 of the characters a-z, 0-9, ".", "_" and "-"',
  })
  id!: string;

  @IsIn(TEXT_PROTOCOLS)
  protocol!: TextProtocol;

  /**
   * Address that the protocol's paths are appended to, version included, for example `https://api.vendor.example/v1`.
   * It may be a private one: operators run models of their own. A secret in it would be shown, so it holds none.
   */
  @ValidateIf((entry: UpstreamEntry) => entry.protocol !== 'sandbox')
  @IsUrl(BASE_URL, { message: '$property must be an http or https address without credentials, query or fragment' })
  base_url!: string;

  @IsOptional()
  @IsUpstreamKey()
  key?: string;

  /** Public model name to the upstream's own name for it. */
  @IsObject()
  models!: Record<string, string>;

  /** Share of the requests within its priority; 0 takes it out of service. */
  @IsNumber()
  @Min(0)
  @Max(1_000)
  weight = 1;

  /** Lower numbers are asked first. */
  @IsInt()
  @Min(0)
  @Max(1_000)
  priority = 0;

  @ValidateNested({ message: '$property must be an object' })
  @Type(() => UpstreamTimeoutsEntry)
  timeouts = new UpstreamTimeoutsEntry();

  /** What the vendor calls the output limit; only the chat protocol has two names for it. */
  @IsIn(LIMIT_FIELDS)
  output_limit_field: (typeof LIMIT_FIELDS)[number] = 'max_tokens';
}

/** The whole file. */
export class UpstreamsFile {
  @IsArray()
  @ArrayMinSize(1)
  @ValidateNested({ each: true })
  @Type(() => UpstreamEntry)
  upstreams!: UpstreamEntry[];
}
