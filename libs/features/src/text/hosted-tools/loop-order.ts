import type { ModelLimits } from '#providers';
import type { HostedKind, TextRequest, TextStyle, UnpricedUse } from '#contracts';
import type { ClientConnection } from '../client-connection.js';
import type { TextRouter } from '../text-router.js';
import type { ApprovalAnswer, HostedReference, RequestedTool } from './requested-tools.js';
import type { ToolLoopMetering } from './loop-metering.js';
import type { McpServers } from './mcp-servers.js';
import type { LoopInput } from './round-input.js';
import type { Sources } from './sources.js';
import type { ToolWork } from './tool-work.js';

/** A request whose tools the gateway runs. */
export interface LoopOrder {
  readonly accountId: string;
  readonly style: TextStyle;
  /** The kinds of tools whose results the answer shows, so that clients send them back with it. */
  readonly shownResults: readonly HostedKind[];
  readonly stream: boolean;
  readonly model: string;
  /** The request without those tools. */
  readonly request: TextRequest;
  readonly requestedTools: readonly RequestedTool[];
  readonly forced: readonly HostedReference[];
  readonly only: readonly HostedReference[] | undefined;
  readonly approvals: readonly ApprovalAnswer[];
  /** What it asks for besides, that the upstream must allow. */
  readonly unpriced: readonly UnpricedUse[];
  /** The most output of all rounds, as the caller limits it; undefined: as the model. */
  readonly outputLimit: number | undefined;
  /** The output that a round should have room for, and the least that is worth it. */
  readonly wantedOutput: number;
  readonly leastOutput: number;
  /** What a round may think beside its limit. */
  readonly outputBeside: number;
  readonly input: LoopInput;
  readonly modelLimits: ModelLimits;
  readonly maxRounds: number;
  readonly maxTokens: number;
}

/** What the loop works with. */
export interface LoopParts {
  readonly order: LoopOrder;
  readonly metering: ToolLoopMetering;
  readonly router: TextRouter;
  readonly work: ToolWork;
  readonly servers: McpServers;
  readonly sources: Sources;
  readonly client: ClientConnection;
}
