import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { FileOwners } from '#features';
import type { MediaStore } from '#media';
import { MEDIA_STORE } from '#runtime';
import type { OperationText } from '../../http/operation.js';
import { Route, Routes } from '../../http/route.js';
import { BY_LINK, OpenTransfers } from '../uploads/open-transfers.js';
import { sentOver } from '../uploads/send-file.js';

const READ_FILE: OperationText = {
  id: 'readFile',
  tag: 'Files',
  summary: 'Read a result file by its signed link',
  description: 'The link itself is the authorization. Supports range requests.',
  path: { key: 'As in the link; may contain slashes.' },
  answer: { description: 'The file.', content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
  errors: [
    'permission_denied',
    'link_expired',
    'not_found',
    'range_not_satisfiable',
    'rate_limit_exceeded',
    'overloaded',
  ],
};

/** Result files. Links are signed, so the link itself is the permission. */
@Controller('files')
@Routes({ style: 'files', access: 'open' })
export class FilesController {
  private readonly sent = new OpenTransfers('download', BY_LINK);

  constructor(
    private readonly owners: FileOwners,
    @Inject(MEDIA_STORE) private readonly store: MediaStore,
  ) {}

  /** Sends a file, or a part of it, within the share of the account whose it is. HEAD is answered by the same route. */
  @Get('*key')
  @Route({ operation: READ_FILE, answer: 'native' })
  read(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.store.serve(request, response, async (key, send) =>
      this.sent.during(await this.owners.of(key), send, sentOver(response)),
    );
  }
}
