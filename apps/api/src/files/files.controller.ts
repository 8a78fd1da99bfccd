import { MEDIA_STORE, type MediaStore } from '#platform';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';

/** Result files. Links are signed, so the link itself is the permission. */
@Controller('files')
export class FilesController {
  constructor(@Inject(MEDIA_STORE) private readonly store: MediaStore) {}

  /** Sends a file, or a part of it. HEAD is answered by the same route. */
  @Get('*key')
  read(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.store.serve(request, response);
  }
}
