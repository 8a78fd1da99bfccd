import {
  Controller,
  Delete,
  Get,
  Inject,
  type OnModuleDestroy,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '#contracts';
import {
  type Caller,
  FILE_PURPOSES,
  type FileListQuery,
  type FilePurpose,
  FilesService,
  type UploadedFile,
} from '#features';
import { type MediaStore, MediaStoreError } from '#media';
import { MEDIA_STORE } from '#runtime';
import { AccountId, ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { withCode } from '../../http/envelope.js';
import { IdempotentRequests } from '../../http/idempotent-requests.js';
import { Reply, Route, Routes } from '../../http/route.js';
import { SendingRate, SharedPace } from '../../http/sending-rate.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { mustBe, oneOf, readListQuery } from '../../list-query.js';
import { fileObject, listObject } from './file-object.js';
import { OpenTransfers } from './open-transfers.js';
import { type ReceivedFile, receiveFile } from './receive-file.js';
import { sendFile, sentOver } from './send-file.js';
import { UPLOAD_OPERATIONS } from './uploads.openapi.js';

@Controller('v1/files')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'files', scope: 'files' })
export class UploadsController implements OnModuleDestroy {
  private readonly rate = new SendingRate();
  private readonly pace = new SharedPace();
  private readonly taken = new OpenTransfers('upload');
  private readonly sent = new OpenTransfers('download');

  constructor(
    private readonly files: FilesService,
    private readonly idempotent: IdempotentRequests,
    @Inject(MEDIA_STORE) private readonly store: MediaStore,
  ) {}

  /** An upload that a stop cuts leaves nothing that would count as unfinished until another process removes it. */
  onModuleDestroy(): Promise<void> {
    return this.taken.ended();
  }

  /** Stores a file while it comes. A repeat with the same Idempotency-Key gets the file that was made first. */
  @Post()
  @Route({ operation: UPLOAD_OPERATIONS.uploadFile, body: 'upload', cost: 'free', answer: 'native' })
  async upload(
    @Req() request: Request,
    @Reply() response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<SerializedBody | undefined> {
    return this.taken.during(caller.accountId, async () => {
      const { id, received } = await this.receive(request, response, caller);
      try {
        await request.expectStillAllowed?.();
        return await this.keep(request, response, caller, received);
      } finally {
        // One that was kept stays as it is.
        await this.files.discard(id);
      }
    });
  }

  @Get()
  @Route({ operation: UPLOAD_OPERATIONS.listFiles, cost: 'free', answer: 'native' })
  async list(@Query() query: Record<string, unknown>, @AccountId() accountId: string): Promise<SerializedBody> {
    const { items, hasMore } = await this.files.list(accountId, readFileQuery(query));
    const data = items.map((file) => ({ ...fileObject(file), id: file.id }));
    return SerializedBody.json(withCode(listObject(data, hasMore)));
  }

  @Get(':file_id')
  @Route({ operation: UPLOAD_OPERATIONS.readUploadedFile, cost: 'free', answer: 'native' })
  async read(@Param('file_id') id: string, @AccountId() accountId: string): Promise<SerializedBody> {
    return SerializedBody.json(withCode(fileObject(await this.files.find(accountId, id))));
  }

  /** The bytes of a file, to be saved and never to be shown. */
  @Get(':file_id/content')
  @Route({ operation: UPLOAD_OPERATIONS.readFileContent, cost: 'free', answer: 'native' })
  async content(
    @Param('file_id') id: string,
    @AccountId() accountId: string,
    @Res() response: Response,
  ): Promise<void> {
    const file = await this.files.find(accountId, id);
    await this.sent.during(accountId, () => this.send(file, response), sentOver(response));
  }

  /** Deletes a file, with its passages and its places in vector stores. */
  @Delete(':file_id')
  @Route({ operation: UPLOAD_OPERATIONS.deleteFile, cost: 'free', answer: 'native' })
  async remove(@Param('file_id') id: string, @AccountId() accountId: string): Promise<SerializedBody> {
    await this.files.remove(accountId, id);
    return SerializedBody.json(withCode({ id, object: 'file', deleted: true }));
  }

  private async send({ storeKey, bytes, filename }: UploadedFile, response: Response): Promise<void> {
    const content = await this.store.open(storeKey).catch((error: unknown) => {
      if (!(error instanceof MediaStoreError)) throw error;
      throw new GatewayError('unavailable', 'The file cannot be read at the moment; ask again shortly.', {
        cause: error,
      });
    });
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': Number(bytes),
      'content-disposition': `attachment; filename*=UTF-8''${headerText(filename)}`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    await sendFile(content, response, { expectAllowed: response.req.expectStillAllowed });
  }

  private async receive(request: Request, response: Response, caller: Caller) {
    let id = '';
    try {
      const received = await receiveFile(request, {
        store: this.store,
        maxBytes: this.files.maxBytes,
        rate: this.rate,
        pace: (bytes) => this.pace.delayMs(caller.accountId, bytes),
        begin: async () => {
          const begun = await this.files.begin(caller);
          ({ id } = begun);
          return begun;
        },
      });
      return { id, received };
    } catch (error) {
      if (id !== '') await this.files.discard(id);
      // What is left of a body that broke the rules is not waited for.
      if (!request.readableEnded) {
        response.setHeader('connection', 'close');
        response.once('finish', () => request.destroy());
        request.resume();
      }
      throw error;
    }
  }

  private async keep(
    request: Request,
    response: Response,
    { accountId }: Caller,
    { id, fields, ...file }: ReceivedFile,
  ): Promise<SerializedBody | undefined> {
    const upload = { ...file, ...readUploadFields(fields) };
    // A repeat is recognised by the same content under the same name.
    request.body = upload;
    return this.idempotent.answer(request, response, async () =>
      SerializedBody.json(withCode(fileObject(await this.files.keep(accountId, id, upload)))),
    );
  }
}

/** As RFC 8187 writes texts in headers. */
const headerText = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

type SentQuery = Readonly<Record<string, unknown>>;

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
const readFileQuery = (query: SentQuery): FileListQuery => ({
  ...readListQuery(query, { limit: 10_000, limitMax: 10_000 }),
  purpose: oneOf(query, 'purpose', FILE_PURPOSES),
});

/** What a form says of its file. */
interface UploadFields {
  readonly purpose: FilePurpose;
  readonly expiresAfterSeconds: number | null;
}

const EXPIRES_ANCHOR = 'expires_after[anchor]';
const EXPIRES_SECONDS = 'expires_after[seconds]';
const KNOWN = ['purpose', EXPIRES_ANCHOR, EXPIRES_SECONDS];
const SECONDS_MIN = 3_600;
const SECONDS_MAX = 2_592_000;

/** @throws GatewayError `missing_parameter`, `unknown_parameter` or `invalid_parameter`. */
function readUploadFields(fields: ReadonlyMap<string, string>): UploadFields {
  const stray = [...fields.keys()].find((name) => !KNOWN.includes(name));
  if (stray !== undefined)
    throw new GatewayError(
      'unknown_parameter',
      `${stray} is not a field of an upload. Known fields: file, ${KNOWN.join(', ')}.`,
      {
        param: stray,
      },
    );
  const purpose = oneOf(Object.fromEntries(fields), 'purpose', FILE_PURPOSES);
  if (!purpose)
    throw new GatewayError('missing_parameter', `purpose is missing: it must be one of ${FILE_PURPOSES.join(', ')}.`, {
      param: 'purpose',
    });
  return { purpose, expiresAfterSeconds: secondsIn(fields) };
}

function secondsIn(fields: ReadonlyMap<string, string>): number | null {
  const [anchor, sent] = [fields.get(EXPIRES_ANCHOR), fields.get(EXPIRES_SECONDS)];
  if (anchor === undefined && sent === undefined) return null;
  if (anchor !== 'created_at') throw mustBe(EXPIRES_ANCHOR, 'created_at');
  const number = /^\d{1,10}$/.test(sent ?? '') ? Number(sent) : Number.NaN;
  if (number >= SECONDS_MIN && number <= SECONDS_MAX) return number;
  throw mustBe(EXPIRES_SECONDS, `a whole number of seconds from ${SECONDS_MIN} to ${SECONDS_MAX}`);
}
