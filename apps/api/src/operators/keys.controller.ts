import { Body, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type ConsoleKey, GatewayError } from '#contracts';
import { KEY_SCOPES, type KeySettings, KeysService, type KeyView, type OpenSession } from '#features';
import { checked, CheckedBody, named } from '../checked-input.js';
import { openSession } from '../console/console-gate.js';
import { PageRoute } from '../console/console-routes.js';
import { KeyFacts, keyOf } from '../console/views.js';
import { callerOf } from '../http/api-key.guard.js';
import { KeyChange, NewKeyBody, Rotation, toKeySettings } from '../key.dto.js';
import { viewOfRow } from '../row-view.js';
import { ACCOUNT_OPERATIONS } from './admin.openapi.js';
import { memberOf, NamedAccount, operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';

/**
 * The keys of any account for operators, and of their account for its people: all of them for owners, their own for developers.
 * Pages see who made them and how far limits are used. Changes reach every replica within seconds.
 */
@OperatorRoutes()
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly facts: KeyFacts,
  ) {}

  @OperatorRoute('GET /accounts/:account_id/keys', ACCOUNT_OPERATIONS.adminListKeys, { own: 'GET /keys' })
  async list(@NamedAccount() accountId: string, @Req() request: Request) {
    const member = memberOf(request);
    const rows = await this.keys.list(accountId);
    return this.shown(member ? rows.filter((row) => mayTouch(member, row)) : rows, request);
  }

  @PageRoute('GET /keys/:key_id')
  async read(@Param('key_id') id: string, @Req() request: Request) {
    const row = await this.touched(id, request);
    return keyOf(row, await this.facts.of([row]), memberOf(request)?.user?.id ?? null);
  }

  /** Makes a key. Its secret stands in this answer and never again. */
  @OperatorRoute('POST /accounts/:account_id/keys', ACCOUNT_OPERATIONS.adminCreateKey, { own: 'POST /keys' })
  async create(@NamedAccount() accountId: string, @Body() body: unknown, @Req() request: Request) {
    const given = named(checked(NewKeyBody, body));
    const member = memberOf(request);
    const { name } = given;
    const settings = { ...withScopes(member, toKeySettings(given), true), name, createdBy: member?.user?.id };
    return this.withSecret(await this.keys.create(operatorOf(request), accountId, settings), request);
  }

  @OperatorRoute('PATCH /keys/:key_id', ACCOUNT_OPERATIONS.adminChangeKey, { own: 'POST /keys/:key_id' })
  async update(@Param('key_id') id: string, @CheckedBody(KeyChange) change: KeyChange, @Req() request: Request) {
    const member = memberOf(request);
    if (member && (await this.touched(id, request)).kind === 'console') expectLimitsOnly(change);
    const settings = withScopes(member, toKeySettings(change), false);
    return this.one(await this.keys.update(operatorOf(request), id, settings), request);
  }

  /** Gives a key a new secret; the old one works until the overlap ends. */
  @OperatorRoute('POST /keys/:key_id/rotate', ACCOUNT_OPERATIONS.adminRotateKey, { page: 'POST /keys/:key_id/rotate' })
  async rotate(@Param('key_id') id: string, @Body() body: unknown, @Req() request: Request) {
    const { overlap_seconds: overlapSeconds } = checked(Rotation, body ?? {});
    if (memberOf(request)) await this.touched(id, request);
    return this.withSecret(await this.keys.rotate(operatorOf(request), id, overlapSeconds), request);
  }

  /** Ends a key permanently. */
  @OperatorRoute('POST /keys/:key_id/revoke', ACCOUNT_OPERATIONS.adminRevokeKey, { own: 'POST /keys/:key_id/revoke' })
  async revoke(@Param('key_id') id: string, @Req() request: Request) {
    if (memberOf(request)) await this.touched(id, request);
    return this.one(await this.keys.revoke(operatorOf(request), id), request);
  }

  /** @throws GatewayError `not_found`, the same whether it is not there, of another account or of another person. */
  private async touched(id: string, request: Request): Promise<KeyView> {
    const row = await this.keys.read(id);
    if (row.accountId === callerOf(request).accountId && mayTouch(openSession(request), row)) return row;
    throw new GatewayError('not_found', `There is no key "${id.slice(0, 64)}".`, { param: 'key_id' });
  }

  private async shown(rows: readonly KeyView[], request: Request): Promise<object[]> {
    if (!request.session) return rows.map(viewOfRow);
    const facts = await this.facts.of(rows);
    return rows.map((row): ConsoleKey => keyOf(row, facts, memberOf(request)?.user?.id ?? null));
  }

  private async one(row: KeyView, request: Request): Promise<object> {
    return (await this.shown([row], request))[0] ?? {};
  }

  private async withSecret(
    { key, row }: Awaited<ReturnType<KeysService['create']>>,
    request: Request,
  ): Promise<object> {
    const shown = await this.one(row, request);
    return request.session ? { key: shown, secret: key } : { key, ...shown };
  }
}

const mayTouch = ({ permissions, user }: OpenSession, { createdBy }: KeyView): boolean =>
  permissions.has('keys:all') || (createdBy !== null && createdBy === user?.id);

/** A key opens no more than its maker may see: without the ledger, a key for everything is one for all but the ledger. */
function withScopes(member: OpenSession | undefined, settings: KeySettings, isNew: boolean): KeySettings {
  const { scopes } = settings;
  if (!member || member.permissions.has('ledger:read') || (scopes === undefined && !isNew)) return settings;
  if (scopes?.includes('ledger')) {
    throw new GatewayError(
      'permission_denied',
      'The scope "ledger" can only be given by a user who may see the ledger.',
      {
        param: 'scopes',
      },
    );
  }
  return { ...settings, scopes: scopes?.length ? scopes : KEY_SCOPES.filter((scope) => scope !== 'ledger') };
}

/** @throws GatewayError `invalid_parameter`. */
function expectLimitsOnly(change: KeyChange): void {
  const param = (['scopes', 'allowed_addresses', 'expires_at'] as const).find((name) => change[name] !== undefined);
  if (param === undefined) return;
  throw GatewayError.ofField(param, 'cannot be set on the key of the console: limit its spending instead');
}
