import type { UploadedFile } from '#features';

/** Seconds since 1970. */
export const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

/** A file in the shape of the widely used interface. */
export const fileObject = ({ id, bytes, createdAt, expiresAt, filename, purpose }: UploadedFile): object => ({
  id,
  object: 'file',
  bytes: Number(bytes),
  created_at: seconds(createdAt),
  expires_at: expiresAt && seconds(expiresAt),
  filename,
  purpose,
  status: 'processed',
  status_details: null,
});

/** A part of a list in that shape. */
export const listObject = (data: readonly { readonly id: string }[], hasMore: boolean): object => ({
  object: 'list',
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
});
