import { Module } from '@nestjs/common';
import { AgentSessionsService } from './agent-sessions.service.js';
import { MarginsService } from './margins.service.js';
import { UsageService } from './usage.service.js';

const SERVICES = [AgentSessionsService, MarginsService, UsageService];

@Module({ providers: SERVICES, exports: SERVICES })
export class UsageModule {}
