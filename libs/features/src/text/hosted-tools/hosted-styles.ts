import { type ChatRequest, type ChatTool, isJsonObject, type TextStyle } from '#contracts';
import { asJson } from '../json-object.js';
import { geminiHosted } from './gemini-hosted.js';
import { messagesHosted } from './messages-hosted.js';
import { type HostedStyle, readWebSearch, type RequestedTool, wrong } from './requested-tools.js';
import { responsesHosted, splitChoice, toolsListed, withoutListed, withOwnLabels } from './responses-hosted.js';

const SEARCH = 'web_search_options';

/** Chat completions has no item in which a call could wait for the caller. */
function expectNoApproval(requested: RequestedTool, index: number, tools: readonly object[]): RequestedTool {
  if (requested.kind !== 'mcp') return requested;
  const { require_approval: asked }: { require_approval?: unknown } = tools[index] ?? {};
  if (asked != null && asked !== 'never')
    throw wrong(`tools[${index}].require_approval`, '"never" here: POST /v1/responses can ask for approval');
  return { ...requested, approval: { otherwise: 'never', except: [] } };
}

function find({ tools, [SEARCH]: options }: ChatRequest & { readonly [SEARCH]?: unknown }): readonly RequestedTool[] {
  const sent = tools ?? [];
  const requestedTools = toolsListed(sent).map((requested) => {
    const index = Number(/\d+/.exec(requested.params[0] ?? '')?.[0]);
    return expectNoApproval(requested, index, sent);
  });
  const search = isJsonObject(options) ? [readWebSearch(asJson(options), SEARCH)] : [];
  return withOwnLabels([...requestedTools, ...search]);
}

/** Chat completions: `web_search_options`, and the tools of the responses style as they are there. */
const chatHosted: HostedStyle<ChatRequest> = {
  find,
  without: (body, requestedTools) => {
    const { choice, forced, only } = splitChoice(body.tool_choice);
    const { tools: _tools, tool_choice: _choice, [SEARCH]: options, ...rest } = body;
    const tools: ChatTool[] | undefined = withoutListed(body.tools, requestedTools);
    const isTaken = requestedTools.some(({ params }) => params.includes(SEARCH));
    const stripped = {
      ...rest,
      ...(tools && { tools }),
      ...(choice != null && { tool_choice: choice }),
      ...(options !== undefined && !isTaken && { [SEARCH]: options }),
    };
    return { body: stripped as ChatRequest, forced, only };
  },
  maxCalls: () => undefined,
  showsResults: () => [],
  approvals: () => [],
};

const HOSTED_STYLES = {
  responses: responsesHosted,
  messages: messagesHosted,
  gemini: geminiHosted,
  chat: chatHosted,
} as const;

/** How a style names the tools that the gateway can run. The body is one of that style. */
export const hostedStyle = <Body>(style: TextStyle): HostedStyle<Body> =>
  HOSTED_STYLES[style] as unknown as HostedStyle<Body>;
