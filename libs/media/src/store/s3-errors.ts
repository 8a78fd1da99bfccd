import { S3ServiceException } from '@aws-sdk/client-s3';
import { MediaStoreError } from './media-store.js';

/** Sorts what the bucket said, or that it said nothing. */
export function asStoreError(error: unknown): MediaStoreError {
  if (!(error instanceof S3ServiceException))
    return new MediaStoreError('unavailable', 'the bucket cannot be reached', { cause: error });
  const status = error.$metadata.httpStatusCode;
  // A missing bucket is a mistake of the operator, not a missing file.
  if (status === 404 && error.name !== 'NoSuchBucket')
    return new MediaStoreError('not_found', 'there is no such file', { cause: error });
  if (status === 507 || NO_SPACE_NAMES.has(error.name))
    return new MediaStoreError('no_space', 'there is no room left for media files', { cause: error });
  const answer = `the bucket answered ${error.name} (${status ?? 'no status'})`;
  return new MediaStoreError('unavailable', answer, { cause: error });
}

/** How S3-compatible servers say that a quota or a disk is full. */
const NO_SPACE_NAMES = new Set(['QuotaExceeded', 'XMinioStorageFull']);
