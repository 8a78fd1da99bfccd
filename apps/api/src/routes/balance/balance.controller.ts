import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError, shortDecimal } from '#contracts';
import { AccessService, type Balance, BalanceService, type Caller, expectScope, type KeyBalance } from '#features';
import { logger } from '#platform';
import { authenticate, presentedKey } from '../../http/authenticate.js';
import { toGatewayError } from '../../http/error-body.js';
import { type OperationText, schemaOf } from '../../http/operation.js';
import { Route, Routes } from '../../http/route.js';

const userBalance = (id: string): OperationText => ({
  id,
  tag: 'Account',
  summary: 'The balance of the account',
  description: 'In a shape of its own, without the envelope.',
  answer: schemaOf('UserBalance'),
});

/** What is left, of an account and of a key. */
const BALANCE_OPERATIONS = {
  readUserBalance: userBalance('readUserBalance'),
  readUserBalanceWithoutVersion: userBalance('readUserBalanceWithoutVersion'),
  readKeyBalance: {
    id: 'readKeyBalance',
    tag: 'Account',
    summary: 'What the key used and may still use',
    answer: schemaOf('UserBalance'),
  },
} satisfies Readonly<Record<string, OperationText>>;

/** What stands for a balance that nothing limits. */
const UNLIMITED = '-1';

/** The balance of a key: the fields of its account, its own limit (-1 when it has none) and its end in Unix seconds. */
const keyBalanceBody = (balance: KeyBalance): string => {
  const quota = balance.quotaMicros === null ? UNLIMITED : shortDecimal(balance.quotaMicros);
  const expires = balance.expiresAt === null ? 'null' : Math.floor(balance.expiresAt.getTime() / 1000);
  return `${balanceFields(balance)},"total_quota":${quota},"expires_at":${expires}}`;
};

/**
 * A balance as JSON text. Written by hand because JSON numbers of the language lose digits beyond 2^53, and a balance
 * must not. `owed_balance` stands there only while the account owes something: any other answer has no field beyond
 * those that clients know.
 */
function balanceFields({ remainingMicros, usedMicros, owedMicros }: Balance): string {
  const remaining = remainingMicros === null ? UNLIMITED : shortDecimal(remainingMicros);
  const used = shortDecimal(usedMicros);
  const owed = owedMicros === 0n ? '' : `,"owed_balance":${shortDecimal(owedMicros)}`;
  return `{"success":true,"remain_balance":${remaining},"used_balance":${used},"unlimited_quota":${remainingMicros === null}${owed}`;
}

/** A failed balance request. */
const balanceFailureBody = (message: string): string => JSON.stringify({ success: false, message });

const log = logger('balance');

/** The messages of a failed balance request, which clients may compare word by word. */
const NO_HEADER = '无 Authorization 头';
const NO_SUCH_USER = '获取用户额度失败';
const READING_FAILED = '获取已使用额度失败';

/** Balances of accounts and keys, in a shape of their own without the envelope. */
@Controller()
@Routes({ style: 'account', scope: 'balance', cors: true })
export class BalanceController {
  constructor(
    private readonly access: AccessService,
    private readonly balances: BalanceService,
  ) {}

  /** The balance of the account behind the key, whichever of its keys asks. */
  @Get(['v1/user/balance', 'user/balance'])
  @Route({
    operation: [BALANCE_OPERATIONS.readUserBalance, BALANCE_OPERATIONS.readUserBalanceWithoutVersion],
    answer: 'native',
  })
  ofUser(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer(request, response, async ({ accountId }) => {
      const balance = await this.balances.ofAccount(accountId);
      return balance && `${balanceFields(balance)}}`;
    });
  }

  /** What the key itself used and may still use. */
  @Get('v1/balance')
  @Route({ operation: BALANCE_OPERATIONS.readKeyBalance, answer: 'native' })
  ofKey(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer(request, response, async ({ apiKeyId }) => {
      const balance = await this.balances.ofKey(apiKeyId);
      return balance && keyBalanceBody(balance);
    });
  }

  private async answer(
    request: Request,
    response: Response,
    read: (caller: Caller) => Promise<string | null>,
  ): Promise<void> {
    response.setHeader('cache-control', 'no-store');
    response.type('application/json; charset=utf-8');
    if (presentedKey(request) === undefined && !request.headers.authorization) {
      response.status(401).send(balanceFailureBody(NO_HEADER));
      return;
    }
    try {
      const caller = await authenticate(request, this.access);
      expectScope(caller, request.match.facts.scope);
      const body = await read(caller);
      response.status(body ? 200 : 401).send(body ?? balanceFailureBody(NO_SUCH_USER));
    } catch (error) {
      this.fail(response, error);
    }
  }

  /** A key that is not good has no user behind it; any other refusal says its own words in the same shape. */
  private fail(response: Response, error: unknown): void {
    const { status, retryAfterMs } = toGatewayError(error);
    if (retryAfterMs !== undefined) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000));
    if (error instanceof GatewayError) {
      const message = error.code === 'invalid_api_key' ? NO_SUCH_USER : error.publicMessage;
      response.status(status).send(balanceFailureBody(message));
      return;
    }
    log.error('balance.read_failed', { requestId: response.req.requestId, error });
    response.status(status).send(balanceFailureBody(READING_FAILED));
  }
}
