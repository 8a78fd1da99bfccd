import type { FunctionTool, TextRequest } from '#contracts';

/** The functions that an upstream is offered. A choice among several names is said by leaving the others out. */
export function offeredTools({ tools, toolChoice }: TextRequest): readonly FunctionTool[] {
  if (toolChoice.mode !== 'required' || toolChoice.names.length < 2) return tools;
  return tools.filter((tool) => toolChoice.names.includes(tool.name));
}
