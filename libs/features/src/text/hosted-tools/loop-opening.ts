import {
  GatewayError,
  type HostedKind,
  type McpListStep,
  type TextEvent,
  type TextRequest,
  type TextStyle,
  type ToolStep,
  type Turn,
  type UnpricedUse,
} from '#contracts';
import type { ModelLimits } from '#providers';
import type { ClientConnection } from '../client-connection.js';
import type { AskedConversation } from '../conversations.js';
import { newTextId } from '../reply-parts.js';
import { isOpenEnded } from '../text-metering.js';
import type { TextRouter } from '../text-router.js';
import type { ToolLoopMetering } from './loop-metering.js';
import type { McpServers } from './mcp-servers.js';
import { isAllowed, namesOf, type OfferedTool, offeredTools, type ServerTools } from './offered-tools.js';
import type { ApprovalAnswer, HostedReference, RequestedMcpServer, RequestedTool } from './requested-tools.js';
import { firstInput, type LoopInput, nextInput } from './round.js';
import type { Sources } from './cited-text.js';
import type { HostedCall } from './tool-runner.js';
import type { ToolWork } from './tool-work.js';

/** A request whose tools the gateway runs. */
export interface LoopOrder {
  readonly accountId: string;
  /** Undefined: the price book alone. */
  readonly priceList: string | undefined;
  readonly conversation: AskedConversation;
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

/** What a request is before its model is asked for the first time. */
interface LoopOpening {
  readonly request: TextRequest;
  /** The tools of the gateway, by the names that the model knows. */
  readonly offered: ReadonlyMap<string, OfferedTool>;
  readonly input: LoopInput;
  /** Events before the first word of the model. */
  readonly events: readonly TextEvent[];
}

/** A call that the caller approved, and the request for its approval. */
interface ApprovedCall {
  readonly call: HostedCall;
  readonly approvalId: string;
}

/**
 * Lists the tools of servers, which is free, and makes the calls that the caller approved. Those are held for before the
 * first is made, together with what the model may write on them, so that no server works for a request that cannot be paid.
 *
 * @throws GatewayError `invalid_parameter` for a server that does not list its tools; as `TextBilling.hold`.
 */
export async function openingOf(parts: LoopParts): Promise<LoopOpening> {
  const { order } = parts;
  const listed = await listServers(parts);
  const taken = order.request.tools.map(({ name }) => name);
  const offered = offeredTools(order.requestedTools, listed, taken, order.only);
  const opening: LoopOpening = {
    request: withTools(parts, offered),
    offered: new Map(offered.map((each) => [each.tool.name, each])),
    input: firstInput(order.input, offered),
    events: [...listed].flatMap(([requested, tools]) =>
      listEvents({ server: requested.label, tools: tools.filter((tool) => isAllowed(requested, tool)) }),
    ),
  };
  const approved = order.approvals.flatMap((approval) => approvedCall(approval, offered));
  return approved.length === 0 ? opening : withApproved(parts, opening, approved);
}

async function listServers({ order, servers, work }: LoopParts): Promise<ServerTools> {
  const requestedTools = order.requestedTools.filter(
    (requested): requested is RequestedMcpServer => requested.kind === 'mcp',
  );
  const unknown = requestedTools.filter((requested) => !servers.isListed(requested));
  await work.all(unknown, (requested, signal) => servers.list(requested, signal));
  return new Map(requestedTools.map((requested) => [requested, servers.toolsOf(requested)]));
}

function listEvents(listed: Pick<McpListStep, 'server' | 'tools'>): readonly TextEvent[] {
  const step: McpListStep = { type: 'mcp_list', id: newTextId('mcpl_gw'), ...listed };
  return [
    { type: 'step', state: 'begun', step: { ...step, tools: [] } },
    { type: 'step', state: 'done', step },
  ];
}

function withTools({ order }: LoopParts, offered: readonly OfferedTool[]): TextRequest {
  const tools = [...order.request.tools, ...offered.map(({ tool }) => tool)];
  const forced = namesOf(offered, order.forced);
  if (order.forced.length > 0 && forced.length === 0)
    throw GatewayError.unsupported('tool_choice', 'the choice of a tool that is not offered');
  const { toolChoice } = order.request;
  const names = toolChoice.mode === 'required' && toolChoice.names.length > 0 ? toolChoice.names : [];
  const choice = forced.length > 0 ? { mode: 'required' as const, names: [...names, ...forced] } : toolChoice;
  return { ...order.request, tools, toolChoice: choice };
}

function approvedCall(approval: ApprovalAnswer, offered: readonly OfferedTool[]): readonly ApprovedCall[] {
  const tool = offered.find(
    (each) => each.kind === 'mcp' && each.requested.label === approval.label && each.listed.name === approval.name,
  );
  if (!tool) return [];
  const call = { id: newTextId('call_'), offered: tool, arguments: approval.arguments };
  return [{ call, approvalId: approval.requestId }];
}

/** The opening with the results of the approved calls, which are charged whatever becomes of the rest. */
async function withApproved(
  { order, work, metering }: LoopParts,
  opening: LoopOpening,
  approved: readonly ApprovedCall[],
): Promise<LoopOpening> {
  const bill = await metering.openCalls({
    request: () => opening.request,
    inputTokens: opening.input.tokens,
    mostInputTokens: opening.input.most,
    hasFiles: opening.input.hasFiles,
    outputTokens: order.outputBeside + (order.outputLimit ?? order.wantedOutput),
    leastOutputTokens: order.outputBeside + (order.outputLimit ?? order.leastOutput),
    tools: { mcp_call: Math.min(approved.length, work.callsLeft) },
    limits: order.modelLimits,
    unpriced: order.unpriced,
    isOpenEnded: isOpenEnded({ unpriced: order.unpriced, unknownFields: [] }),
  });
  const events: TextEvent[] = [...opening.events];
  const turns: Turn[] = [];
  for (const { call, approvalId } of approved) {
    const { step, content, isError } = await work.runApproved(call, approvalId, bill);
    events.push({ type: 'step', state: 'begun', step: undone(step) }, { type: 'step', state: 'done', step });
    const { name } = call.offered.tool;
    turns.push({ role: 'assistant', parts: [{ type: 'call', id: call.id, name, arguments: call.arguments }] });
    turns.push({ role: 'user', parts: [{ type: 'result', callId: call.id, name, content, isError }] });
  }
  metering.endRound('completed');
  return {
    ...opening,
    request: { ...opening.request, turns: [...opening.request.turns, ...turns] },
    input: nextInput(opening.input, undefined, turns, order.modelLimits),
    events,
  };
}

/** A call that is over, as it was when it began. */
function undone(step: ToolStep): ToolStep {
  if (step.type !== 'mcp_call') return step;
  const { output: _output, failure: _failure, ...begun } = step;
  return begun;
}
