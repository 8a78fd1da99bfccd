import { Body, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type ConsoleKey, GatewayError } from '#contracts';
import { KEY_SCOPES, type KeySettings, KeysService, type KeyView, type OpenSession } from '#features';
import { checked, CheckedBody, named } from '../checked-input.js';
import { KeyChange, NewKeyBody, Rotation, toKeySettings } from '../key.dto.js';
import { callerOf } from '../http/api-key.guard.js';
import { actorOf, PageRoute, ConsoleRoutes } from './console-routes.js';
import { openSession } from './console-gate.js';
import { KeyFacts, keyOf } from './views.js';

/** The keys of the account: all of them for its owners, their own for developers. */
@ConsoleRoutes()
export class ConsoleKeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly facts: KeyFacts,
  ) {}

  @PageRoute('GET /keys')
  async list(@Req() request: Request) {
    const session = openSession(request);
    const rows = await this.keys.list(callerOf(request).accountId);
    const seen = rows.filter((row) => mayTouch(session, row));
    const facts = await this.facts.of(seen);
    return { items: seen.map((row) => keyOf(row, facts, session.user?.id ?? null)) };
  }

  @PageRoute('GET /keys/:key_id')
  async read(@Param('key_id') id: string, @Req() request: Request) {
    return this.view(await this.own(id, request), request);
  }

  /** The secret is in this answer and in no other. */
  @PageRoute('POST /keys')
  async create(@Body() body: unknown, @Req() request: Request) {
    const given = named(checked(NewKeyBody, body));
    const session = openSession(request);
    const settings = {
      ...withScopes(session, toKeySettings(given), true),
      name: given.name,
      createdBy: session.user?.id,
    };
    const { key, row } = await this.keys.create(actorOf(request), callerOf(request).accountId, settings);
    return { key: await this.view(row, request), secret: key };
  }

  @PageRoute('POST /keys/:key_id')
  async update(@Param('key_id') id: string, @CheckedBody(KeyChange) change: KeyChange, @Req() request: Request) {
    const { kind } = await this.own(id, request);
    if (kind === 'console') expectLimitsOnly(change);
    const settings = withScopes(openSession(request), toKeySettings(change), false);
    return this.view(await this.keys.update(actorOf(request), id, settings), request);
  }

  @PageRoute('POST /keys/:key_id/rotate')
  async rotate(
    @Param('key_id') id: string,
    @CheckedBody(Rotation) { overlap_seconds: overlapSeconds }: Rotation,
    @Req() request: Request,
  ) {
    await this.own(id, request);
    const { key, row } = await this.keys.rotate(actorOf(request), id, overlapSeconds);
    return { key: await this.view(row, request), secret: key };
  }

  @PageRoute('POST /keys/:key_id/revoke')
  async revoke(@Param('key_id') id: string, @Req() request: Request) {
    await this.own(id, request);
    return this.view(await this.keys.revoke(actorOf(request), id), request);
  }

  /** @throws GatewayError `not_found`, the same whether it is not there, of another account or of another person. */
  private async own(id: string, request: Request): Promise<KeyView> {
    const row = await this.keys.read(id);
    if (row.accountId === callerOf(request).accountId && mayTouch(openSession(request), row)) return row;
    throw new GatewayError('not_found', `There is no key "${id.slice(0, 64)}".`, { param: 'key_id' });
  }

  private async view(row: KeyView, request: Request): Promise<ConsoleKey> {
    return keyOf(row, await this.facts.of([row]), openSession(request).user?.id ?? null);
  }
}

const mayTouch = ({ permissions, user }: OpenSession, { createdBy }: KeyView): boolean =>
  permissions.has('keys:all') || (createdBy !== null && createdBy === user?.id);

/** A key opens no more than its maker may see: without the ledger, a key for everything is one for all but the ledger. */
function withScopes({ permissions }: OpenSession, settings: KeySettings, isNew: boolean): KeySettings {
  const { scopes } = settings;
  if (permissions.has('ledger:read') || (scopes === undefined && !isNew)) return settings;
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
