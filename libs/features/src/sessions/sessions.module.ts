import { Module } from '@nestjs/common';
import { AdminModule } from '../accounts/admin.module.js';
import { ConsoleKeys } from '../accounts/console-key.js';
import { InvitationsService } from '../people/invitations.service.js';
import { OneTimeLinks } from '../people/one-time-links.js';
import { PeopleService } from '../people/people.service.js';
import { SessionsService } from './sessions.service.js';

const SERVICES = [ConsoleKeys, InvitationsService, OneTimeLinks, PeopleService, SessionsService];

/** Who uses the console, and who is signed in to it. */
@Module({ imports: [AdminModule], providers: SERVICES, exports: SERVICES })
export class SessionsModule {}
