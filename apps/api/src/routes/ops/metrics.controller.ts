import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '#contracts';
import { type GuessLimiter, OPERATOR_GUESSES } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { presentedKey } from '../../http/authenticate.js';
import { Route, Routes } from '../../http/route.js';
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
class MetricsGuard implements CanActivate {
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

/** The numbers of this process for Prometheus, as long as no port of their own (`OPS_PORT`) is set for them. */
@Controller('metrics')
@UseGuards(MetricsGuard)
@Routes({ style: 'ops', access: 'operator' })
export class MetricsController {
  constructor(@Inject(PLATFORM) private readonly platform: Platform) {}

  @Get()
  @Route({ operation: [], isQuiet: true, answer: 'native' })
  async read(@Res() response: Response): Promise<void> {
    if (this.platform.config.ops.OPS_PORT !== undefined) {
      throw new GatewayError('not_found', 'Metrics are served on the port that OPS_PORT names.');
    }
    const body = await this.platform.metrics.render();
    // Express would rewrite the parameters of the media type, which carry the version of the format.
    response.setHeader('content-type', this.platform.metrics.contentType);
    response.end(body);
  }
}
