import {
  flatFunction,
  type FunctionTool,
  isCustomTool,
  isFunctionTool,
  isNamespace,
  type ResponsesTool,
} from '#contracts';
import { omitNullish } from '../json-object.js';
import { functionForText, shortName } from '../tool-arguments.js';

/** How the caller knows a tool that other protocols get as a function. */
export interface ToolOrigin {
  /** `custom`: its input is a text and no JSON. */
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
}

/** A tool as a function of a name that is its own in the whole request. */
export interface FlatTool {
  readonly tool: FunctionTool;
  readonly origin: ToolOrigin;
}

/** The name of a tool in a namespace for other protocols, which have no namespaces. The same in every turn. */
export const flatName = (namespace: string | null | undefined, name: string): string =>
  namespace ? shortName(`${namespace}__${name}`) : name;

/** The functions and free-form tools of a request, those in namespaces too. Tools that the vendor runs are left out. */
export function flatTools(tools: readonly ResponsesTool[], namespace?: string): FlatTool[] {
  return tools.flatMap((tool): FlatTool[] => {
    if (isNamespace(tool)) return flatTools(tool.tools, tool.name);
    if (isFunctionTool(tool)) {
      const { name, description, parameters, strict } = flatFunction(tool);
      const flat = { name: flatName(namespace, name), description, parameters, strict };
      return [{ tool: omitNullish<FunctionTool>(flat), origin: originOf('function', name, namespace) }];
    }
    if (!isCustomTool(tool)) return [];
    const { description, format } = tool;
    const grammar =
      format?.type === 'grammar' ? { syntax: format.syntax, definition: format.definition ?? '' } : undefined;
    const flat = functionForText({ name: flatName(namespace, tool.name), description, grammar });
    return [{ tool: flat, origin: originOf('custom', tool.name, namespace) }];
  });
}

/** The origin of each tool, by the name other protocols know it by. */
export const originsOf = (tools: readonly ResponsesTool[]): ReadonlyMap<string, ToolOrigin> =>
  new Map(flatTools(tools).map(({ tool, origin }) => [tool.name, origin]));

const originOf = (kind: ToolOrigin['kind'], name: string, namespace: string | undefined): ToolOrigin =>
  namespace === undefined ? { kind, name } : { kind, name, namespace };
