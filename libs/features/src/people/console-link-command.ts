import { GatewayError } from '#contracts';
import { type Database, randomId } from '#platform';
import { AuditedChanges } from '../audit/audit.js';
import { FIRST_ACCOUNT_ID } from '../accounts/seed.service.js';
import { consoleLinkOf, FIRST_USER_ID, OneTimeLinks } from './one-time-links.js';

/** The user that the link signs in: by default the owner of the first account, who operates the gateway. */
export interface LinkCommand {
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
  const change = {
    action: 'user.link_made',
    subjectType: 'user' as const,
    subjectId: userId,
    before: null,
    after: null,
  };
  await new AuditedChanges(database).run(operator, async () => ({ result: undefined, change }));
  return consoleLinkOf(baseUrl, code);
}
