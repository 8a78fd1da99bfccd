import { IsOptional } from 'class-validator';
import type { AdminAgentSession, AdminSessionRequest, ConsoleAgentSession } from '#contracts';
import { AgentSessionsService, type UsageQuery, UsageService } from '#features';
import { CheckedQuery } from '../checked-input.js';
import { AccountId } from '../http/api-key.guard.js';
import { IsShownText, IsText } from '../input-fields.js';
import { daysOf, UsageListQuery } from '../list-query.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { listOf, usageRecordOf } from './views.js';

class SessionsQuery extends UsageListQuery {
  @IsOptional() @IsText(256) text?: string;
}

class RequestsQuery extends UsageListQuery {
  @IsShownText(256) session!: string;
}

class AdminSessionsQuery extends SessionsQuery {
  @IsOptional() @IsText(80) account_id?: string;
}

class AdminRequestsQuery extends RequestsQuery {
  @IsShownText(80) account_id!: string;
}

/** What agents did, session by session: for the account, and for operators over all accounts. */
@ConsoleRoutes()
export class AgentSessionsController {
  constructor(
    private readonly sessions: AgentSessionsService,
    private readonly usage: UsageService,
  ) {}

  @PageRoute('GET /agent-sessions')
  async list(@CheckedQuery(SessionsQuery) list: SessionsQuery, @AccountId() accountId: string) {
    const found = await this.find(list, daysOf(list, accountId, await this.usage.timeZoneOf(accountId)));
    return listOf<ConsoleAgentSession>({
      ...found,
      items: found.items.map(({ account_id: _accountId, ...session }) => session),
    });
  }

  /** Which upstream served them and what they cost the operator stays with the operator. */
  @PageRoute('GET /agent-sessions/requests')
  async requests(@CheckedQuery(RequestsQuery) list: RequestsQuery, @AccountId() accountId: string) {
    const days = daysOf(list, accountId, await this.usage.timeZoneOf(accountId));
    const of = { ...days, accountId, session: list.session };
    const { items, nextCursor } = await this.sessions.requests(of, pageOf(list));
    const shown = items.map(({ upstream: _upstream, cost_worth_micros: _cost, ...record }) => usageRecordOf(record));
    return { items: shown, next_cursor: nextCursor };
  }

  @PageRoute('GET /admin/agent-sessions')
  async listOfAll(@CheckedQuery(AdminSessionsQuery) list: AdminSessionsQuery) {
    return listOf<AdminAgentSession>(await this.find(list, daysOf(list, list.account_id ?? null)));
  }

  @PageRoute('GET /admin/agent-sessions/requests')
  async requestsOfAny(@CheckedQuery(AdminRequestsQuery) list: AdminRequestsQuery) {
    const { account_id: accountId, session } = list;
    const { items, nextCursor } = await this.sessions.requests(
      { ...daysOf(list, accountId), accountId, session },
      pageOf(list),
    );
    return { items: items.map((row) => usageRecordOf(row) as AdminSessionRequest), next_cursor: nextCursor };
  }

  private find(list: SessionsQuery, days: UsageQuery): ReturnType<AgentSessionsService['list']> {
    return this.sessions.list({ ...days, text: list.text ?? null }, pageOf(list));
  }
}

const pageOf = ({ limit, cursor }: UsageListQuery) => ({ limit, cursor: cursor ?? null });
