import type { FunctionTool, TextRequest } from '#contracts';
import { cannotSay } from './codec-failures.js';

/**
 * The functions that an upstream is offered. A choice among several names is said by leaving the others out.
 *
 * @param hosted the tools that the upstream runs itself.
 * @throws GatewayError `unsupported_parameter` for a call that must be made of what is not there: vendors refuse it, and
 * without the choice the reply would be one to another question.
 */
export function offeredTools(
  { tools, toolChoice }: Pick<TextRequest, 'tools' | 'toolChoice'>,
  hosted: readonly unknown[],
): readonly FunctionTool[] {
  if (toolChoice.mode !== 'required') return tools;
  const { names, param = 'tool_choice' } = toolChoice;
  if (tools.length === 0 && hosted.length === 0)
    throw cannotSay(param, 'a call that must be made, without a tool to call,');
  if (names.some((wanted) => !tools.some(({ name }) => name === wanted)))
    throw cannotSay(param, 'the choice of a function that is not offered');
  return names.length < 2 ? tools : tools.filter(({ name }) => names.includes(name));
}
