import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '#contracts';
import { type GuessLimiter, OPERATOR_GUESSES } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { presentedKey } from '../../http/presented-key.js';
import { OperatorAccess } from './operator-access.js';

const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
/** A request through a proxy does not come from the machine that opened the connection. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/**
 * Shows numbers on the public port to operators, by admin or viewer token. Programs on the same machine need none as long
 * as the gateway serves that machine alone: where it listens further, has a public address or stands behind proxies, a
 * tunnel or relay would make strangers look local.
 */
@Injectable()
export class MetricsGuard implements CanActivate {
  private readonly access: OperatorAccess;

  constructor(
    @Inject(PLATFORM) private readonly platform: Platform,
    @Inject(OPERATOR_GUESSES) private readonly guesses: GuessLimiter,
  ) {
    this.access = OperatorAccess.on(platform);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const token = presentedKey(request);
    if (token === undefined ? this.isAlone && isLocal(request) : await this.opens(token, request)) return true;
    throw new GatewayError(
      'invalid_api_key',
      'Metrics need the header "Authorization: Bearer <ADMIN_TOKEN or OPS_VIEWER_TOKEN>", or a port of their own: OPS_PORT.',
    );
  }

  private async opens(token: string, { ip: address, requestId }: Request): Promise<boolean> {
    return (await this.guesses.check({ address, requestId }, () => this.access.roleOf(token))) !== null;
  }

  private get isAlone(): boolean {
    const { HOST, PUBLIC_BASE_URL, TRUSTED_PROXIES } = this.platform.config.server;
    const publicHost = PUBLIC_BASE_URL === undefined ? HOST : new URL(PUBLIC_BASE_URL).hostname;
    return isOwnName(HOST) && isOwnName(publicHost) && TRUSTED_PROXIES === undefined;
  }
}

const isOwnName = (host: string): boolean => host === 'localhost' || LOOPBACK.test(host.replace(/^\[|\]$/g, ''));

const isLocal = ({ socket, headers }: Request): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') && PROXY_HEADERS.every((name) => headers[name] === undefined);
