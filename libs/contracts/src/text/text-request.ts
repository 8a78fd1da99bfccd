import type { JsonObject } from '../json.js';
import type { TextStyle } from './text-style.js';
import type { HostedKind } from './tool-step.js';

/** An image or document: at a public address, or inline as base64. */
export type MediaSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'inline'; readonly mediaType: string; readonly base64: string };

/** Types of what a model reads as text. */
const TEXT_TYPE =
  /^text\/|[/+](?:json|xml|yaml)$|^application\/(?:x-)?(?:yaml|toml|sql|graphql|ndjson|jsonl|(?:java|ecma|type)script|python(?:-code)?|sh|tex)$/i;

/** Whether a file of the type, which has no parameters, is a text. */
export const isTextType = (mediaType: string): boolean => TEXT_TYPE.test(mediaType);

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** It begins a message of its own; others of a turn may be pieces of one text. */
  readonly isApart?: true;
}

export interface ImagePart {
  readonly type: 'image';
  readonly source: MediaSource;
  /** How closely to look; a hint. */
  readonly detail?: 'low' | 'high' | 'auto';
  /** Where the caller wrote it, for a refusal that names it. */
  readonly param?: string;
}

export interface FilePart {
  readonly type: 'file';
  readonly source: MediaSource;
  readonly name?: string;
  /** Where the caller wrote it, for a refusal that names it. */
  readonly param?: string;
}

/** The model asked for a function. `arguments` is the text of a JSON object. */
export interface CallPart {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A piece of what a function returned. */
export type ReturnedPart = TextPart | ImagePart | FilePart;

/** What a function returned, paired with its call by `callId`. */
export interface ResultPart {
  readonly type: 'result';
  readonly callId: string;
  readonly name: string;
  readonly content: readonly ReturnedPart[];
  readonly isError: boolean;
}

/**
 * Reasoning of an earlier turn, replayed by the caller. `signature` is the vendor's proof and may stand without a text,
 * when the vendor sealed the reasoning; it begins with the protocol that made it, so that no other vendor is sent it.
 */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly signature?: string;
}

export type UserPart = TextPart | ImagePart | FilePart | ResultPart;
export type AssistantPart = TextPart | CallPart | ReasoningPart;

export type Turn =
  /** What the system says in the middle of the conversation. */
  | { readonly role: 'system'; readonly parts: readonly TextPart[] }
  | { readonly role: 'user'; readonly parts: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] };

export interface FunctionTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
  /** Of a tool that the gateway runs itself; never sent to a vendor. */
  readonly runHere?: HostedKind;
}

/** A tool that the vendor runs itself, for example web search. Only an upstream of its own protocol can
 * offer it. */
export interface HostedTool {
  readonly protocol: TextStyle;
  /** Where it is in the request, for example `tools[1]`. */
  readonly param: string;
  readonly type: string;
  /** True: the request is complete without it, and an upstream that lacks it may be asked all the same. */
  readonly isOptional?: boolean;
  /** The tool in the native form of its protocol. */
  readonly definition: JsonObject;
}

/** Those tools that are named. A request may name tens of thousands, and offer as many. */
export function namedTools(tools: readonly FunctionTool[], names: readonly string[]): FunctionTool[] {
  const wanted = new Set(names);
  return tools.filter(({ name }) => wanted.has(name));
}

/** `names` narrows a required call to these functions. */
export type ToolChoice =
  | { readonly mode: 'auto' }
  | { readonly mode: 'none' }
  | {
      readonly mode: 'required';
      readonly names: readonly string[];
      /** Where the request says it; `tool_choice` unless it is set. */
      readonly param?: string;
    };

export type OutputFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly name: string;
      /** What the answer is for. */
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

export interface ReasoningRequest {
  /** The caller's own word. */
  readonly effort?: ReasoningEffort;
  /** 0: the caller wants none, and said so in another way than by the word. */
  readonly budgetTokens?: number;
  /** Whether the caller wants to read the reasoning or its summary. */
  readonly visible: boolean;
}

/**
 * A text request in no vendor's style: every inbound style is read into it, every upstream protocol is written from it.
 * What a style says beyond it either passes through to an upstream of the same protocol or is refused.
 */
export interface TextRequest {
  readonly model: string;
  readonly stream: boolean;
  /** System prompts in front of the conversation, in order. */
  readonly system: readonly string[];
  /** Neighbouring turns may have the same role. */
  readonly turns: readonly Turn[];
  readonly tools: readonly FunctionTool[];
  readonly hostedTools: readonly HostedTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly format: OutputFormat;
  readonly reasoning?: ReasoningRequest;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopSequences: readonly string[];
  /** How the caller's style calls what some upstreams refuse, where it is not `stop` and `temperature`. */
  readonly fieldNames?: { readonly stop: string; readonly temperature: string };
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  /** The caller's own name for its end user. */
  readonly user?: string;
  /** How much the answer should say. */
  readonly verbosity?: string;
  /** Says which requests share a prompt cache. */
  readonly cacheKey?: string;
  /** How fast it is to be served, in the caller's word for it; only of tiers that are known, and that the upstream may be asked for. */
  readonly serviceTier?: string;
}
