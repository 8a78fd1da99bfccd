import { Module } from '@nestjs/common';
import { AdminModule } from '../admin.module.js';
import { ConsoleKeys } from '../accounts/api-key.js';
import { Challenges } from '../people/challenges.js';
import { IdentitiesService, IdentityProvider } from '../people/identity-provider.js';
import { InvitationsService } from '../people/invitations.service.js';
import { OneTimeLinks } from '../people/one-time-links.js';
import { PasskeysService } from '../people/passkeys.service.js';
import { PeopleService } from '../people/people.service.js';
import { SessionsService } from './sessions.service.js';

const SERVICES = [
  ConsoleKeys,
  IdentitiesService,
  IdentityProvider,
  InvitationsService,
  OneTimeLinks,
  PasskeysService,
  PeopleService,
  SessionsService,
];

/** Users of the console and their sessions. */
@Module({ imports: [AdminModule], providers: [Challenges, ...SERVICES], exports: SERVICES })
export class SessionsModule {}
