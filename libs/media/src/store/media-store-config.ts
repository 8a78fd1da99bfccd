import { Transform } from 'class-transformer';
import { IsArray, IsOptional, IsString, IsUrl, MinLength, ValidateBy, ValidateIf } from 'class-validator';
import { allowListProblem, Variable } from '#platform';

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
        '$property must list CIDR ranges (10.1.0.0/16) or host:port entries (media.local:9000), separated by commas',
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
  @Variable({
    description: 'S3-compatible endpoint, with path-style addresses. When unset: Amazon S3.',
    example: 'http://minio:9000',
  })
  @IsOptional()
  @IsUrl(URL_RULE)
  MEDIA_S3_ENDPOINT?: string;

  @Variable({ description: 'Region that requests are signed for.' })
  @IsString()
  @MinLength(1)
  MEDIA_S3_REGION = 'us-east-1';

  @Variable({
    description:
      'Bucket of the files; it must exist. Required if any MEDIA_S3 variable is set; if none is, files are kept in DATA_DIR.',
  })
  @ValidateIf(usesS3)
  @IsString()
  @MinLength(3)
  MEDIA_S3_BUCKET?: string;

  @Variable({ description: 'Access key that may read, write and delete objects of the bucket.' })
  @ValidateIf(usesS3)
  @IsString()
  @MinLength(1)
  MEDIA_S3_ACCESS_KEY_ID?: string;

  @Variable({ description: 'Secret of the access key.', secret: true })
  @ValidateIf(usesS3)
  @IsString()
  @MinLength(1)
  MEDIA_S3_SECRET_ACCESS_KEY?: string;

  @Variable({
    description:
      'Public address of the bucket, for example a CDN: permanent files are linked there. When unset, they are linked through this gateway, which redirects to a fresh presigned link. Anybody who knows the object key of a file can read it at this address for as long as it is stored; keys of uploads are random, keys of results contain the task id.',
    example: 'https://cdn.example.com',
  })
  @IsOptional()
  @IsUrl(URL_RULE)
  MEDIA_S3_PUBLIC_BASE_URL?: string;

  @Variable({
    description:
      'Secrets that sign the links of this gateway, at least 16 characters each, separated by commas, newest first. When unset: kept in DATA_DIR, or derived from the S3 secret.',
    secret: true,
  })
  @IsOptional()
  @CommaSeparated()
  @IsArray()
  @IsString({ each: true })
  @MinLength(16, { each: true })
  MEDIA_LINK_SECRETS?: string[];

  @Variable({ description: 'Largest file that is stored.', unit: 'MiB', between: [1, 5_000] })
  MEDIA_MAX_FILE_MB = 500;

  @Variable({
    description: 'Longest time for one download from a vendor.',
    unit: 'seconds',
    between: [5, 3_600],
  })
  MEDIA_DOWNLOAD_TIMEOUT_SECONDS = 300;

  @Variable({
    description:
      'Longest time for reading the header of one referenced file; all files of one request together have three times as long.',
    unit: 'seconds',
    between: [1, 60],
  })
  MEDIA_INSPECT_TIMEOUT_SECONDS = 10;

  @Variable({
    description:
      'Addresses that may be fetched although they are not public, separated by commas: CIDR ranges (10.1.0.0/16, on ports 80 and 443) or host:port (media.local:9000).',
  })
  @CommaSeparated()
  @IsAllowList()
  MEDIA_FETCH_ALLOW: string[] = [];
}
