import { Injectable } from '@nestjs/common';
import type { OperatorConsoleRole, SignInMethod } from '#contracts';
import { Database, timeOrderedId } from '#platform';
import { KEY_RULES } from '../accounts/caller.js';
import { ConsoleKeys } from '../accounts/api-key.js';
import type { ShownRow } from '../paging/page.js';
import { hashOfCode, newSecretCode } from '../people/password.js';
import { type OpenSession, type SessionRow, toOpenSession } from './session-row.js';

/** A session expires when unused for so long, in hours. */
export const SESSION_IDLE_HOURS = 12;
/** None lasts longer, in days. */
const SESSION_DAYS = 7;
const AGENT_CHARACTERS_MAX = 300;
/** The most sessions of a person, and of an API key: a further one ends the oldest. */
const SESSIONS_MAX = 100;

export type SessionOwner =
  | { readonly userId: string; readonly accountId?: string | undefined }
  /** The hash is that of the secret that was shown, which may be the one before a rotation. */
  | { readonly apiKeyId: string; readonly accountId: string; readonly keyHash: Buffer }
  | { readonly operatorRole: OperatorConsoleRole; readonly operatorCheck: Buffer };

export interface SessionPlace {
  readonly address: string | undefined;
  readonly agent: string | undefined;
}

/** Unless one is asked for, the account that the user joined first. */
const ADD = `
with seen as (
  update console_user set seen_at = now() where id = $4
), ended as (
  delete from console_session where id = any(array(
    select id from console_session where user_id = $4 or api_key_id = $6
    order by created_at desc, id desc offset ${SESSIONS_MAX - 1}))
)
insert into console_session (id, token_hash, method, user_id, account_id, api_key_id, operator_role, operator_check, address,
  agent, proved_at, expires_at, key_hash)
values ($1, $2, $3, $4,
  coalesce($5, (select m.account_id from membership m join account a on a.id = m.account_id and a.disabled_at is null
    where m.user_id = $4 order by m.created_at, m.account_id limit 1)),
  $6, $7, $8, $9, $10, case when $11 then now() end, now() + interval '${SESSION_DAYS} days', $12)
returning account_id`;

const IS_OPEN = `s.expires_at > now() and s.seen_at > now() - interval '${SESSION_IDLE_HOURS} hours'`;

/**
 * The key is that of the session, or the one that runs of the console are charged to. A session ends with the secret that
 * opened it.
 */
const READ_SESSION = `
select s.id, s.method, s.user_id, s.api_key_id as session_key_id, s.operator_role, s.operator_check, s.created_at, s.seen_at,
  s.proved_at, s.expires_at, u.name as user_name, u.email, u.password_hash is not null as has_password,
  u.operator_role as user_operator_role, a.id as account_id, a.name as account_name, m.role, k.id as key_id,
  k.expires_at as key_expires_at, ${KEY_RULES}
from console_session s
left join console_user u on u.id = s.user_id
left join membership m on m.user_id = s.user_id and m.account_id = s.account_id
left join account a on a.id = s.account_id and a.disabled_at is null and (s.api_key_id is not null or m.role is not null)
left join api_key k on k.account_id = a.id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  and case when s.api_key_id is null then k.kind = 'console' else k.id = s.api_key_id and (k.key_hash = s.key_hash
    or k.previous_key_hash = s.key_hash and k.previous_valid_until > now()) end
where s.token_hash = $1 and ${IS_OPEN} and (s.user_id is null or u.disabled_at is null)
  and (s.api_key_id is null or k.id is not null)`;

/** Written once a minute, however much is done. */
const TOUCH = `
with seen as (update console_session set seen_at = now() where id = $1 and seen_at < now() - interval '1 minute' returning user_id)
update console_user set seen_at = now() where id in (select user_id from seen)`;

const LIST = `
select s.id, s.method, s.id = $1 as is_current, s.created_at as started_at, s.seen_at, s.address, s.agent
from console_session s, console_session o
where o.id = $1 and (s.user_id = o.user_id or s.api_key_id = o.api_key_id or s.id = o.id) and ${IS_OPEN}
order by s.created_at desc limit 100`;
const END_OWN = `
delete from console_session s using console_session o
where o.id = $1 and (s.user_id = o.user_id or s.api_key_id = o.api_key_id or s.id = o.id) and ($2::text is null or s.id = $2)
returning s.id`;

@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly consoleKeys: ConsoleKeys,
  ) {}

  /** Opens a session and answers the secret of its cookie. `isProof`: whether the sign-in proved the user's identity. */
  async open(method: SignInMethod, owner: SessionOwner, place: SessionPlace, isProof: boolean): Promise<string> {
    const token = newSecretCode();
    const { userId, accountId, apiKeyId, keyHash, operatorRole, operatorCheck } = {
      userId: null,
      accountId: null,
      apiKeyId: null,
      keyHash: null,
      operatorRole: null,
      operatorCheck: null,
      ...owner,
    };
    const { rows } = await this.database.query<{ account_id: string | null }>({
      text: ADD,
      values: [
        timeOrderedId('sess'),
        hashOfCode(token),
        method,
        userId,
        accountId ?? null,
        apiKeyId,
        operatorRole,
        operatorCheck,
        place.address ?? null,
        place.agent?.slice(0, AGENT_CHARACTERS_MAX) ?? null,
        isProof,
        keyHash,
      ],
    });
    const shown = rows[0]?.account_id;
    if (shown && apiKeyId === null) await this.consoleKeys.ensure(shown);
    return token;
  }

  /** The session of a cookie with what it allows now; null when it is unknown or over. */
  async read(token: string): Promise<OpenSession | null> {
    const statement = { name: 'read_console_session', text: READ_SESSION, values: [hashOfCode(token)] };
    const [row] = (await this.database.query<SessionRow>(statement)).rows;
    if (!row) return null;
    await this.database.query({ name: 'touch_console_session', text: TOUCH, values: [row.id] });
    return toOpenSession(row);
  }

  /** Records that the user has proved their identity again. */
  async prove(sessionId: string): Promise<void> {
    await this.database.query({
      text: 'update console_session set proved_at = now() where id = $1',
      values: [sessionId],
    });
  }

  /** The open sessions of the owner of a session, newest first. */
  async list(sessionId: string): Promise<ShownRow[]> {
    return (await this.database.query<ShownRow>({ text: LIST, values: [sessionId] })).rows;
  }

  /** Ends one of the sessions of its owner, or all of them when none is named; answers how many. */
  async end(sessionId: string, which: string | null): Promise<number> {
    return (await this.database.query({ text: END_OWN, values: [sessionId, which] })).rows.length;
  }
}
