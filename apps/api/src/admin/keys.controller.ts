import { KeysService } from '#features';
import { Body, Controller, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { checked } from '../checked-input.js';
import { viewOfRow } from '../row-view.js';
import { operatorOf } from './admin-gate.js';
import { KeyChange, Rotation, toKeySettings } from './key.dto.js';

/** Single keys, for operators. Changes reach every replica within seconds. */
@Controller('admin/v1/keys')
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Patch(':key_id')
  async update(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    const row = await this.keys.update(operatorOf(request), id, toKeySettings(checked(KeyChange, body)));
    return { code: 200, data: viewOfRow(row) };
  }

  /** Gives a key a new secret; the old one works until the overlap ends. */
  @Post(':key_id/rotate')
  @HttpCode(200)
  async rotate(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    const { overlap_seconds: overlapSeconds } = checked(Rotation, body ?? {});
    const { key, row } = await this.keys.rotate(operatorOf(request), id, overlapSeconds);
    return { code: 200, data: { key, ...viewOfRow(row) } };
  }

  /** Ends a key for good. */
  @Post(':key_id/revoke')
  @HttpCode(200)
  async revoke(@Param('key_id') id: string, @Req() request: Request): Promise<object> {
    return { code: 200, data: viewOfRow(await this.keys.revoke(operatorOf(request), id)) };
  }
}
