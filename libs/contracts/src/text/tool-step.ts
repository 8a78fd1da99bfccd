import type { Passage } from '../file-search.js';
import type { JsonObject } from '../json.js';

/** The kinds of tools that the gateway can run where the upstream does not. */
export type HostedKind = 'file_search' | 'web_search' | 'mcp';

/** As often as an operator may let one request with such tools call its model. */
export const TOOL_ROUNDS_MAX = 64;

/** A place in an uploaded file that answers a search. */
export type FoundPassage = Omit<Passage, 'page'>;

/** A page of the web that answers a search. */
export interface FoundPage {
  readonly url: string;
  readonly title: string;
  /** What the page says about it. */
  readonly text: string;
  /** When it was published, in the words of the search engine. */
  readonly age?: string;
}

/** A tool of an MCP server, as the server names it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Hints of the server's own: `readOnlyHint` and similar. */
  readonly annotations?: JsonObject;
}

/** Whether a step is over, and how. */
interface Ended {
  /** Why it failed, in a sentence for caller and model; undefined when it did not. */
  readonly failure?: string;
}

export interface FileSearchStep extends Ended {
  readonly type: 'file_search';
  readonly id: string;
  readonly query: string;
  readonly passages: readonly FoundPassage[];
}

export interface WebSearchStep extends Ended {
  readonly type: 'web_search';
  readonly id: string;
  readonly query: string;
  readonly pages: readonly FoundPage[];
}

export interface McpListStep extends Ended {
  readonly type: 'mcp_list';
  readonly id: string;
  readonly server: string;
  readonly tools: readonly ListedTool[];
}

export interface McpCallStep extends Ended {
  readonly type: 'mcp_call';
  readonly id: string;
  readonly server: string;
  readonly name: string;
  /** The text of a JSON object. */
  readonly arguments: string;
  /** What the tool said in words. */
  readonly output?: string;
  /** The request that the caller approved before. */
  readonly approvalId?: string;
}

/** A call that waits for the caller's word. */
export interface McpApprovalStep extends Ended {
  readonly type: 'mcp_approval';
  readonly id: string;
  readonly server: string;
  readonly name: string;
  readonly arguments: string;
}

/** One piece of work that the gateway did, or wants to do, between two words of the model. */
export type ToolStep = FileSearchStep | WebSearchStep | McpListStep | McpCallStep | McpApprovalStep;

/** The source of a part of an answer. */
export interface Citation {
  /** The stretch of the text block it is in, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The words of the stretch. */
  readonly text: string;
  /** Its number among the sources of the answer, from 0. */
  readonly index: number;
  readonly source:
    { readonly kind: 'passage'; readonly passage: FoundPassage } | { readonly kind: 'page'; readonly page: FoundPage };
}

/** What tools were used, for the bill. */
export const TOOL_UNITS = ['file_search_call', 'web_search_call', 'mcp_call', 'tool_round'] as const;
export type ToolUnit = (typeof TOOL_UNITS)[number];
export type ToolUses = Readonly<Partial<Record<ToolUnit, number>>>;
