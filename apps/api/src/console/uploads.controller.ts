import { Readable } from 'node:stream';
import { Inject } from '@nestjs/common';
import { CONTENT_TYPES, GatewayError } from '#contracts';
import { type Caller, FilesService } from '#features';
import { BufferSource, decodedBase64, extensionOf, inspectMedia, type MediaStore, MediaStoreError } from '#media';
import { MEDIA_STORE } from '#runtime';
import { CheckedBody } from '../checked-input.js';
import { CurrentCaller } from '../http/api-key.guard.js';
import { IsText } from '../input-fields.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';

/** How long an upload can be fetched; then it is removed. */
const LIFE_SECONDS = 86_400;
const MIB = 1024 * 1024;
const MAX_BYTES = { image: 30 * MIB, video: 64 * MIB, audio: 15 * MIB } as const;
/** Characters of the largest in base64. */
const MAX_CHARACTERS = Math.ceil((MAX_BYTES.video * 4) / 3) + 4;

class Upload {
  /** What its sender calls it; its bytes decide. */
  @IsText(100) content_type!: string;

  /** In base64. */
  @IsText(MAX_CHARACTERS) data!: string;
}

/** Files of this machine as inputs of runs: kept for a day at a link of this gateway. */
@ConsoleRoutes()
export class ConsoleUploadsController {
  constructor(
    private readonly files: FilesService,
    @Inject(MEDIA_STORE) private readonly store: MediaStore,
  ) {}

  @PageRoute('POST /uploads', { body: 'images' })
  async upload(@CheckedBody(Upload) { data }: Upload, @CurrentCaller() caller: Caller) {
    const bytes = await decodeFile(data);
    const contentType = await detectType(bytes);
    const { id, storeKey } = await this.files.begin(caller, `.${extensionOf(contentType)}`);
    try {
      const url = await this.store.url(storeKey, { ttlSeconds: LIFE_SECONDS });
      const { sha256 } = await this.put(storeKey, bytes, contentType);
      const { expiresAt } = await this.files.keep(caller.accountId, id, {
        filename: `upload.${extensionOf(contentType)}`,
        purpose: 'vision',
        contentType,
        bytes: bytes.length,
        sha256,
        expiresAfterSeconds: LIFE_SECONDS,
      });
      return {
        url,
        content_type: contentType,
        bytes: bytes.length,
        expires_at: (expiresAt ?? new Date(Date.now() + LIFE_SECONDS * 1_000)).toISOString(),
      };
    } finally {
      // One that was kept stays as it is.
      await this.files.discard(id);
    }
  }

  /** @throws GatewayError `unavailable`. */
  private async put(key: string, bytes: Buffer, contentType: string) {
    try {
      return await this.store.put(key, Readable.from([bytes]), {
        contentType,
        maxBytes: bytes.length,
        isAwaited: true,
      });
    } catch (cause) {
      if (!(cause instanceof MediaStoreError)) throw cause;
      throw new GatewayError('unavailable', 'The file cannot be stored at the moment; try again shortly.', { cause });
    }
  }
}

/** @throws GatewayError `invalid_parameter`. */
async function decodeFile(data: string): Promise<Buffer> {
  const bytes = await decodedBase64(data, 0);
  if (bytes.length > 0 && Math.ceil(bytes.length / 3) * 4 === data.length) return bytes;
  throw GatewayError.ofField('data', 'must be a file in base64');
}

/** The type by the bytes. @throws GatewayError `invalid_media`; `request_too_large`. */
async function detectType(bytes: Buffer): Promise<string> {
  const header = await inspectMedia(new BufferSource(bytes)).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : 'is not an image, video or sound';
    throw new GatewayError('invalid_media', `The file ${reason}.`, { param: 'data', cause });
  });
  const most = MAX_BYTES[header.medium];
  if (bytes.length <= most) return CONTENT_TYPES[header.format];
  const message = `The file has ${bytes.length} bytes; at most ${most} are accepted for its kind.`;
  throw new GatewayError('request_too_large', message, { param: 'data' });
}
