import { type ChatRequest, type ChatTool, isJsonObject } from '#contracts';
import { asJson } from '../json-object.js';
import type { HostedStyle, HostedWish } from './hosted-wish.js';
import { readWebSearch, wrong } from './read-hosted-tool.js';
import { listedWishes, splitChoice, withOwnLabels, withoutListed } from './responses-hosted.js';

const SEARCH = 'web_search_options';

/** Chat completions has no item in which a call could wait for the caller. */
function expectNoApproval(wish: HostedWish, index: number, tools: readonly object[]): HostedWish {
  if (wish.kind !== 'mcp') return wish;
  const { require_approval: asked }: { require_approval?: unknown } = tools[index] ?? {};
  if (asked != null && asked !== 'never')
    throw wrong(`tools[${index}].require_approval`, '"never" here: POST /v1/responses can ask for approval');
  return { ...wish, approval: { otherwise: 'never', except: [] } };
}

function find({ tools, [SEARCH]: options }: ChatRequest & { readonly [SEARCH]?: unknown }): readonly HostedWish[] {
  const sent = tools ?? [];
  const wishes = listedWishes(sent).map((wish) => {
    const index = Number(/\d+/.exec(wish.params[0] ?? '')?.[0]);
    return expectNoApproval(wish, index, sent);
  });
  const search = isJsonObject(options) ? [readWebSearch(asJson(options), SEARCH)] : [];
  return withOwnLabels([...wishes, ...search]);
}

/** Chat completions: `web_search_options`, and the tools of D1 4.1 as they are there. */
export const chatHosted: HostedStyle<ChatRequest> = {
  find,
  without: (body, wishes) => {
    const { choice, forced, only } = splitChoice(body.tool_choice);
    const { tools: _tools, tool_choice: _choice, [SEARCH]: options, ...rest } = body;
    const tools: ChatTool[] | undefined = withoutListed(body.tools, wishes);
    const isTaken = wishes.some(({ params }) => params.includes(SEARCH));
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
