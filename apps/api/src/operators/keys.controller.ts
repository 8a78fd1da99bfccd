import { Body, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { ConsoleKey } from '#contracts';
import { KeysService, type KeyView } from '#features';
import { checked, named } from '../checked-input.js';
import { PageRoute } from '../console/console-routes.js';
import { KeyFacts, keyOf } from '../console/views.js';
import { KeyChange, NewKeyBody, Rotation, toKeySettings } from '../key.dto.js';
import { viewOfRow } from '../row-view.js';
import { ACCOUNT_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, operatorOf, OperatorRoutes } from './operator-route.js';

/** The keys of any account, for operators: pages see who made them and how far limits are used. Changes reach every replica within seconds. */
@OperatorRoutes()
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly facts: KeyFacts,
  ) {}

  @AdminRoute('GET /accounts/:account_id/keys', ACCOUNT_OPERATIONS.adminListKeys)
  async list(@Param('account_id') id: string) {
    return (await this.keys.list(id)).map(viewOfRow);
  }

  /** Makes a key. `key` stands in this answer and never again. */
  @AdminRoute('POST /accounts/:account_id/keys', ACCOUNT_OPERATIONS.adminCreateKey)
  async create(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request) {
    const { key, row } = await this.made(id, body, request);
    return { key, ...viewOfRow(row) };
  }

  @AdminRoute('PATCH /keys/:key_id', ACCOUNT_OPERATIONS.adminChangeKey)
  async update(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request) {
    return viewOfRow(await this.changed(id, body, request));
  }

  /** Gives a key a new secret; the old one works until the overlap ends. */
  @AdminRoute('POST /keys/:key_id/rotate', ACCOUNT_OPERATIONS.adminRotateKey)
  async rotate(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request) {
    const { overlap_seconds: overlapSeconds } = checked(Rotation, body ?? {});
    const { key, row } = await this.keys.rotate(operatorOf(request), id, overlapSeconds);
    return { key, ...viewOfRow(row) };
  }

  /** Ends a key permanently. */
  @AdminRoute('POST /keys/:key_id/revoke', ACCOUNT_OPERATIONS.adminRevokeKey)
  async revoke(@Param('key_id') id: string, @Req() request: Request) {
    return viewOfRow(await this.keys.revoke(operatorOf(request), id));
  }

  @PageRoute('GET /admin/accounts/:account_id/keys')
  async listForPages(@Param('account_id') id: string) {
    const rows = await this.keys.list(id);
    const facts = await this.facts.of(rows);
    return { items: rows.map((row) => keyOf(row, facts, null)) };
  }

  @PageRoute('POST /admin/accounts/:account_id/keys')
  async createForPages(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request) {
    const { key, row } = await this.made(id, body, request);
    return { key: await this.view(row), secret: key };
  }

  @PageRoute('POST /admin/keys/:key_id')
  async updateForPages(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request) {
    return this.view(await this.changed(id, body, request));
  }

  @PageRoute('POST /admin/keys/:key_id/revoke')
  async revokeForPages(@Param('key_id') id: string, @Req() request: Request) {
    return this.view(await this.keys.revoke(operatorOf(request), id));
  }

  private made(accountId: string, body: unknown, request: Request): ReturnType<KeysService['create']> {
    const given = named(checked(NewKeyBody, body));
    return this.keys.create(operatorOf(request), accountId, { ...toKeySettings(given), name: given.name });
  }

  private changed(id: string, body: unknown, request: Request): Promise<KeyView> {
    return this.keys.update(operatorOf(request), id, toKeySettings(checked(KeyChange, body)));
  }

  private async view(row: KeyView): Promise<ConsoleKey> {
    return keyOf(row, await this.facts.of([row]), null);
  }
}
