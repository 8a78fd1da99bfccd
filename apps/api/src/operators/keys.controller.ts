import { Body, Controller, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { KeysService } from '#features';
import { checked } from '../checked-input.js';
import { Route, Routes } from '../http/route.js';
import { viewOfRow } from '../row-view.js';
import { operatorOf } from './admin-gate.js';
import { ACCOUNT_OPERATIONS } from './admin.openapi.js';
import { KeyChange, Rotation, toKeySettings } from '../key.dto.js';

/** Single keys, for operators. Changes reach every replica within seconds. */
@Controller('admin/v1/keys')
@Routes({ style: 'admin', access: 'operator' })
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Patch(':key_id')
  @Route({ operation: ACCOUNT_OPERATIONS.adminChangeKey })
  async update(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const row = await this.keys.update(operatorOf(request), id, toKeySettings(checked(KeyChange, body)));
    return viewOfRow(row);
  }

  /** Gives a key a new secret; the old one works until the overlap ends. */
  @Post(':key_id/rotate')
  @Route({ operation: ACCOUNT_OPERATIONS.adminRotateKey })
  @HttpCode(200)
  async rotate(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const { overlap_seconds: overlapSeconds } = checked(Rotation, body ?? {});
    const { key, row } = await this.keys.rotate(operatorOf(request), id, overlapSeconds);
    return { key, ...viewOfRow(row) };
  }

  /** Ends a key permanently. */
  @Post(':key_id/revoke')
  @Route({ operation: ACCOUNT_OPERATIONS.adminRevokeKey })
  @HttpCode(200)
  async revoke(@Param('key_id') id: string, @Req() request: Request): Promise<unknown> {
    return viewOfRow(await this.keys.revoke(operatorOf(request), id));
  }
}
