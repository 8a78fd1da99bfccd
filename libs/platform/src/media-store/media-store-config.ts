import { Transform, Type } from 'class-transformer';
import {
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  IsUrl,
  Max,
  Min,
  MinLength,
  ValidateBy,
  ValidateIf,
} from 'class-validator';
import { allowListProblem } from '../safe-fetch/allow-list.js';

const URL_RULE = { protocols: ['http', 'https'], require_protocol: true, require_tld: false };

/** A comma-separated variable as a list; blanks around and empty entries are dropped. */
const CommaSeparated = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.split(',').flatMap((entry) => entry.trim() || []) : value,
  );

/** Each entry is a CIDR range or a host with a port, as the safe fetcher reads them. */
const IsAllowList = (): PropertyDecorator =>
  ValidateBy({
    name: 'isAllowList',
    validator: {
      validate: (value: unknown) =>
        Array.isArray(value) && value.every((entry) => allowListProblem(String(entry)) === undefined),
      defaultMessage: () =>
        '$property must list CIDR ranges (10.1.0.0/16) or host:port entries (media.local:9000), divided by commas',
    },
  });

/** True when any of the variables that only S3 needs is set, so that a half-set group is refused instead of ignored. */
const usesS3 = (config: MediaStoreConfig): boolean =>
  [
    config.MEDIA_S3_ENDPOINT,
    config.MEDIA_S3_BUCKET,
    config.MEDIA_S3_ACCESS_KEY_ID,
    config.MEDIA_S3_SECRET_ACCESS_KEY,
    config.MEDIA_S3_PUBLIC_BASE_URL,
  ].some((value) => value !== undefined);

/** Where finished files are kept, and what may be fetched from outside. With no S3 variable set, files live in the data folder. */
export class MediaStoreConfig {
  /** S3-compatible endpoint, for example http://minio:9000; unset means Amazon S3 itself. Addressed by path style. */
  @IsOptional()
  @IsUrl(URL_RULE)
  MEDIA_S3_ENDPOINT?: string;

  /** Region that requests are signed for. Default us-east-1. */
  @IsString()
  @MinLength(1)
  MEDIA_S3_REGION = 'us-east-1';

  /** Bucket of the files; it must exist. Required as soon as any MEDIA_S3 variable is set. */
  @ValidateIf(usesS3)
  @IsString()
  @MinLength(3)
  MEDIA_S3_BUCKET?: string;

  /** Access key that may read, write and delete objects of the bucket. Required with S3. */
  @ValidateIf(usesS3)
  @IsString()
  @MinLength(1)
  MEDIA_S3_ACCESS_KEY_ID?: string;

  /** Secret of the access key. Required with S3. */
  @ValidateIf(usesS3)
  @IsString()
  @MinLength(1)
  MEDIA_S3_SECRET_ACCESS_KEY?: string;

  /**
   * Public address of the bucket, for example a CDN: https://cdn.example.com. Files that stay are then linked there;
   * without it they are linked through this gateway, which redirects to a fresh presigned link.
   */
  @IsOptional()
  @IsUrl(URL_RULE)
  MEDIA_S3_PUBLIC_BASE_URL?: string;

  /**
   * Secrets that sign the gateway's own file links, at least 16 characters each, divided by commas, newest first.
   * Unset: kept in the data folder, or derived from the S3 secret, so that all replicas agree.
   */
  @IsOptional()
  @CommaSeparated()
  @IsArray()
  @IsString({ each: true })
  @MinLength(16, { each: true })
  MEDIA_LINK_SECRETS?: string[];

  /** Largest file taken into the store, in MB of 1,048,576 bytes. Default 500. */
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(5_000)
  MEDIA_MAX_FILE_MB = 500;

  /** Longest time for one download from a vendor, in seconds. Default 300. */
  @Type(() => Number)
  @IsInt()
  @Min(5)
  @Max(3_600)
  MEDIA_DOWNLOAD_TIMEOUT_SECONDS = 300;

  /** Longest time for reading the header of one referenced file, in seconds. Default 10. */
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(60)
  MEDIA_INSPECT_TIMEOUT_SECONDS = 10;

  /**
   * Addresses that may be fetched although they are not public, divided by commas: CIDR ranges (10.1.0.0/16) or host:port
   * (media.local:9000). For private object stores and tests. Default none.
   */
  @CommaSeparated()
  @IsAllowList()
  MEDIA_FETCH_ALLOW: string[] = [];
}
