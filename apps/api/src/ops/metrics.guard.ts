import { GatewayError } from '#contracts';
import { PLATFORM, type Platform } from '#platform';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { presentedKey } from '../door/presented-key.js';
import { OperatorAccess } from './operator-access.js';

const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
/** Who comes through a proxy is not the machine that the connection comes from. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** Shows numbers on the public port to operators, by admin or viewer token, and to programs on the same machine. */
@Injectable()
export class MetricsGuard implements CanActivate {
  private readonly access: OperatorAccess;

  constructor(@Inject(PLATFORM) platform: Platform) {
    this.access = OperatorAccess.on(platform);
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const token = presentedKey(request);
    if (token === undefined ? isLocal(request) : this.access.roleOf(token) !== null) return true;
    throw new GatewayError(
      'invalid_api_key',
      'Metrics need the header "Authorization: Bearer <ADMIN_TOKEN or OPS_VIEWER_TOKEN>", or a port of their own: OPS_PORT.',
    );
  }
}

const isLocal = ({ socket, headers }: Request): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') && PROXY_HEADERS.every((name) => headers[name] === undefined);
