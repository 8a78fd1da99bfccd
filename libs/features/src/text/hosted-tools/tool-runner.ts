import {
  type FileSearchStep,
  GatewayError,
  type ImagePart,
  type JsonObject,
  type McpCallStep,
  type TextPart,
  type ToolStep,
  type WebSearchStep,
} from '#contracts';
import { inToolCall, logger, parsedObject } from '#platform';
import { McpFailure, type WebSearch, WebSearchFailure } from '#providers';
import type { FileSearch } from '../../file-search/file-search.js';
import { newTextId } from '../reply-parts.js';
import { HOW_TO_CITE, markOf, type Sources } from './cited-text.js';
import type { McpServers } from './mcp-servers.js';
import type { OfferedTool } from './offered-tools.js';

const log = logger('text');

/** A call of the model to a tool of the gateway. */
export interface HostedCall {
  readonly id: string;
  readonly offered: OfferedTool;
  /** The text of a JSON object, unless the model wrote something else. */
  readonly arguments: string;
}

/** The outcome: the step as it is shown, and the result for the model. */
export interface Outcome {
  readonly step: ToolStep;
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** What runs tools for one request. */
interface RunnerParts {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  readonly passages: PassageSearch;
  readonly web: WebSearch | undefined;
  readonly servers: McpServers;
  readonly sources: Sources;
}

/** How much of one passage or page the model is given, in characters. */
const LONGEST_FOUND = 6_000;

/** Runs the tools of one request. A failure becomes the result for the model, and is shown to the caller in the step. */
export class ToolRunner {
  private searches = 0;

  constructor(private readonly parts: RunnerParts) {}

  /** The step before its work, as a stream shows it at its beginning. */
  begun(call: HostedCall, approvalId?: string): FileSearchStep | WebSearchStep | McpCallStep {
    const { offered } = call;
    switch (offered.kind) {
      case 'file_search':
        return { type: 'file_search', id: newTextId('fs_gw'), query: queryOf(call.arguments), passages: [] };
      case 'web_search':
        return { type: 'web_search', id: newTextId('ws_gw'), query: queryOf(call.arguments), pages: [] };
      default:
        return {
          type: 'mcp_call',
          id: newTextId('mcp_gw'),
          server: offered.requested.label,
          name: offered.listed.name,
          arguments: call.arguments === '' ? '{}' : call.arguments,
          ...(approvalId !== undefined && { approvalId }),
        };
    }
  }

  /** Does the work of a step. Never throws. */
  run(call: HostedCall, begun: ReturnType<ToolRunner['begun']>, signal: AbortSignal): Promise<Outcome> {
    const { id: callId, offered } = call;
    const name = offered.kind === 'mcp' ? offered.listed.name : offered.kind;
    const type = offered.kind === 'file_search' ? 'datastore' : 'extension';
    return inToolCall({ name, type, callId }, () => this.outcomeOf(call, begun, signal));
  }

  private async outcomeOf(
    call: HostedCall,
    begun: ReturnType<ToolRunner['begun']>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    try {
      switch (call.offered.kind) {
        case 'file_search':
          return await this.searchFiles(call.offered, begun as FileSearchStep, signal);
        case 'web_search':
          return await this.searchWeb(call.offered, begun as WebSearchStep, signal);
        default:
          return await this.callServer(call.offered, begun as McpCallStep, signal);
      }
    } catch (error) {
      return refused(begun, this.sentenceOf(error, signal));
    }
  }

  private sentenceOf(error: unknown, signal: AbortSignal): string {
    if (error instanceof McpFailure) return `The server did not run the tool: ${error.message}.`;
    if (error instanceof WebSearchFailure) return `The search failed: ${error.message}.`;
    if (error instanceof GatewayError) return error.publicMessage;
    if (signal.aborted) return 'The tool was stopped before it was done: tools may only work so long for one request.';
    log.error('tool.failed', { error });
    return 'The tool failed.';
  }

  private async searchFiles(
    { requested }: Extract<OfferedTool, { kind: 'file_search' }>,
    begun: FileSearchStep,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { passages: search, accountId, apiKeyId, requestId, sources } = this.parts;
    if (begun.query === '') return refused(begun, NO_QUERY);
    const { stores: vectorStoreIds, limit, filters, scoreThreshold, weights } = requested;
    this.searches += 1;
    const payer = { apiKeyId, requestId: `${requestId}.q${this.searches}` };
    const how = { limit, filters, scoreThreshold, weights, payer };
    const passages = await search.search({ accountId, vectorStoreIds, query: begun.query, ...how }, signal);
    const shown = passages.map(
      (passage) => `${markOf(sources.passage(passage))} ${passage.filename}\n${passage.text.slice(0, LONGEST_FOUND)}`,
    );
    return {
      step: { ...begun, passages },
      content: found(shown, 'No passage of the files answers this.'),
      isError: false,
    };
  }

  private async searchWeb(
    { requested }: Extract<OfferedTool, { kind: 'web_search' }>,
    begun: WebSearchStep,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { web, sources } = this.parts;
    if (!web) return refused(begun, 'The web cannot be searched here.');
    if (begun.query === '') return refused(begun, NO_QUERY);
    const { limit, allowedDomains, blockedDomains } = requested;
    const pages = await web.search({ query: begun.query, limit, allowedDomains, blockedDomains }, signal);
    const shown = pages.map(
      (page) => `${markOf(sources.page(page))} ${page.title}\n${page.url}\n${page.text.slice(0, LONGEST_FOUND)}`,
    );
    return { step: { ...begun, pages }, content: found(shown, 'The search found no page.'), isError: false };
  }

  private async callServer(
    { requested, listed }: Extract<OfferedTool, { kind: 'mcp' }>,
    begun: McpCallStep,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const args = objectOf(begun.arguments);
    if (!args) return refused(begun, 'The arguments are no JSON object.');
    const { content, isError } = await this.parts.servers.call(requested, listed.name, args, signal);
    const output = content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
    const step: McpCallStep = isError ? { ...begun, output, failure: output } : { ...begun, output };
    return { step, content: content.length > 0 ? content : [{ type: 'text', text: 'Done.' }], isError };
  }
}

const NO_QUERY = 'The call lacks its "query", a text that says what to look for.';

const found = (shown: readonly string[], nothing: string): readonly TextPart[] => [
  { type: 'text', text: shown.length === 0 ? nothing : `${shown.join('\n\n')}\n\n${HOW_TO_CITE}` },
];

/** The result of a call that is not run. */
export const refused = (step: ReturnType<ToolRunner['begun']>, failure: string): Outcome => ({
  step: { ...step, failure },
  content: [{ type: 'text', text: failure }],
  isError: true,
});

const objectOf = (json: string): JsonObject | undefined => parsedObject(json === '' ? '{}' : json);

function queryOf(json: string): string {
  const query = objectOf(json)?.['query'];
  return typeof query === 'string' ? query.trim() : '';
}

/** What searches uploaded files. */
export type PassageSearch = Pick<FileSearch, 'search' | 'expectStores'>;
