import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '#contracts';
import { type Caller, FilesService, type UploadedFile } from '#features';
import { type MediaStore, MediaStoreError } from '#media';
import { MEDIA_STORE } from '#runtime';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { withCode } from '../../http/envelope.js';
import { IdempotentRequests } from '../../http/idempotent-requests.js';
import { Route, Routes } from '../../http/route.js';
import { SendingRate } from '../../http/sending-rate.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { fileObject, listObject } from './file-object.js';
import { OpenTransfers } from './open-transfers.js';
import { type ReceivedFile, receiveFile } from './receive-file.js';
import { sendFile, sentOver } from './send-file.js';
import { readFileQuery, readUploadFields } from './upload-query.js';
import { UPLOAD_OPERATIONS } from './uploads.openapi.js';

/** The files that an account uploads. */
@Controller('v1/files')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'files', scope: 'files' })
export class UploadsController {
  private readonly rate = new SendingRate();
  private readonly taken = new OpenTransfers('upload');
  private readonly sent = new OpenTransfers('download');

  constructor(
    private readonly files: FilesService,
    private readonly idempotent: IdempotentRequests,
    @Inject(MEDIA_STORE) private readonly store: MediaStore,
  ) {}

  /** Stores a file while it comes. A repeat with the same Idempotency-Key gets the file that was made first. */
  @Post()
  @Route({ operation: UPLOAD_OPERATIONS.uploadFile, body: 'upload', cost: 'free', answer: 'native' })
  @HttpCode(200)
  async upload(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
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

  /** The files of the account. */
  @Get()
  @Route({ operation: UPLOAD_OPERATIONS.listFiles, cost: 'free', answer: 'native' })
  async list(@Query() query: Record<string, unknown>, @CurrentCaller() { accountId }: Caller): Promise<SerializedBody> {
    const { items, hasMore } = await this.files.list(accountId, readFileQuery(query));
    const data = items.map((file) => ({ ...fileObject(file), id: file.id }));
    return SerializedBody.json(withCode(listObject(data, hasMore)));
  }

  /** What is known of a file. */
  @Get(':file_id')
  @Route({ operation: UPLOAD_OPERATIONS.readUploadedFile, cost: 'free', answer: 'native' })
  async read(@Param('file_id') id: string, @CurrentCaller() { accountId }: Caller): Promise<SerializedBody> {
    return SerializedBody.json(withCode(fileObject(await this.files.find(accountId, id))));
  }

  /** The bytes of a file, to be saved and never to be shown. */
  @Get(':file_id/content')
  @Route({ operation: UPLOAD_OPERATIONS.readFileContent, cost: 'free', answer: 'native' })
  async content(
    @Param('file_id') id: string,
    @CurrentCaller() { accountId }: Caller,
    @Res() response: Response,
  ): Promise<void> {
    const file = await this.files.find(accountId, id);
    await this.sent.during(accountId, () => this.send(file, response), sentOver(response));
  }

  /** Deletes a file, with its passages and its places in vector stores. */
  @Delete(':file_id')
  @Route({ operation: UPLOAD_OPERATIONS.deleteFile, cost: 'free', answer: 'native' })
  async remove(@Param('file_id') id: string, @CurrentCaller() { accountId }: Caller): Promise<SerializedBody> {
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
