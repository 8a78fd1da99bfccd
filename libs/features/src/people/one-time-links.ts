import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database, randomId } from '#platform';
import { FIRST_ACCOUNT_ID } from '../accounts/seed.service.js';
import { AuditedChanges, changeOf } from '../audit/audit.js';
import { hashOfCode, newSecretCode } from './password.js';

/** The first user of a fresh gateway: owner of the first account, and operator. */
const FIRST_USER_ID = 'user_00000000000000000000000001';
const MINUTES = 15;

const ADD_FIRST_USER = `
with person as (
  insert into console_user (id, name, operator_role) values ($1, 'Owner', 'operator') on conflict (id) do nothing
)
select 1`;
const ADD_FIRST_MEMBERSHIP = `
insert into membership (user_id, account_id, role) values ($1, $2, 'owner') on conflict (user_id, account_id) do nothing`;
const ADD = `insert into one_time_link (code_hash, user_id, expires_at) values ($1, $2, now() + interval '${MINUTES} minutes')`;
const USE = `
delete from one_time_link l using console_user u
where l.code_hash = $1 and l.expires_at > now() and u.id = l.user_id and u.disabled_at is null returning l.user_id`;

/** Links that sign a user in once, within 15 minutes. */
@Injectable()
export class OneTimeLinks {
  constructor(private readonly database: Database) {}

  /** The code of a sign-in link for the first user, who is created with the first link. The first account must exist. */
  async createForFirstUser(): Promise<string> {
    await this.database.query({ text: ADD_FIRST_USER, values: [FIRST_USER_ID] });
    await this.database.query({ text: ADD_FIRST_MEMBERSHIP, values: [FIRST_USER_ID, FIRST_ACCOUNT_ID] });
    return this.create(FIRST_USER_ID);
  }

  /** The user that a code signs in, once; null when it is unknown, used or over. */
  async use(code: string): Promise<string | null> {
    const { rows } = await this.database.query<{ user_id: string }>({ text: USE, values: [hashOfCode(code)] });
    return rows[0]?.user_id ?? null;
  }

  async create(userId: string): Promise<string> {
    const code = newSecretCode();
    await this.database.query({ text: ADD, values: [hashOfCode(code), userId] });
    return code;
  }
}

/** Where a link with this code leads. The fragment reaches no log on the way. */
export const consoleLinkOf = (baseUrl: string, code: string): string => `${baseUrl}/console/sign-in#code=${code}`;

/** The user that the link signs in: by default the owner of the first account, who operates the gateway. */
interface LinkCommand {
  readonly email?: string | undefined;
}

/**
 * Makes a one-time link by a command of the operator's, with a record of it, and answers it.
 *
 * @throws GatewayError `not_found`: the gateway was never started, or no user who may sign in has the address.
 */
export async function printedConsoleLink(database: Database, baseUrl: string, { email }: LinkCommand): Promise<string> {
  const { account, consoleUser } = await database.models();
  if (!(await account.findUnique({ where: { id: FIRST_ACCOUNT_ID } }))) {
    throw new GatewayError('not_found', 'The gateway has no account yet: start it once.');
  }
  const links = new OneTimeLinks(database);
  let [userId, code] = [FIRST_USER_ID, ''];
  if (email === undefined) code = await links.createForFirstUser();
  else {
    const user = await consoleUser.findUnique({ where: { email: email.trim().toLowerCase(), disabledAt: null } });
    if (!user) throw new GatewayError('not_found', `No user who may sign in has the e-mail address "${email}".`);
    userId = user.id;
    code = await links.create(userId);
  }
  const operator = { actor: 'console-link command', requestId: randomId('req'), address: null };
  const change = changeOf('user', 'user.link_made', userId);
  await new AuditedChanges(database).run(operator, async () => ({ result: undefined, change }));
  return consoleLinkOf(baseUrl, code);
}
