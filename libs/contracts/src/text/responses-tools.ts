import { isJsonObject, type JsonObject } from '../json.js';
import { Optional, Required, type FieldCheck } from './body-check.js';
import { flag, jsonObject, listOf, object, text, variants, whole } from './field-checks.js';
import { webAddress } from './image-checks.js';

/** The form of chat completions, where the function is an object of its own. */
class NestedFunction {
  @Required(text({ min: 1 })) name!: string;
  @Required(text()) description!: string;
  @Optional(jsonObject()) parameters?: JsonObject | null;
  @Optional(flag()) strict?: boolean | null;
}

class NestedFunctionTool {
  @Required(object(NestedFunction)) function!: NestedFunction;
}

/** The flat function form of the native interface, where the description may be missing. */
class FlatFunctionTool {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Optional(jsonObject()) parameters?: JsonObject | null;
  @Optional(flag()) strict?: boolean | null;
}

class RemoteMcp {
  @Required(webAddress()) url!: string;
  @Optional(text()) auth_token?: string | null;
  /** Seconds the server may take, 30 when not given. */
  @Optional(whole(1)) timeout?: number | null;
}

class RemoteMcpTool {
  @Required(object(RemoteMcp)) remote_mcp!: RemoteMcp;
}

class CustomFormat {
  @Optional(text()) type?: string | null;
  @Optional(text()) syntax?: string | null;
  @Optional(text()) definition?: string | null;
}

/** A tool whose input is a text and no JSON. */
class CustomTool {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Optional(object(CustomFormat)) format?: CustomFormat | null;
}

/** Tools under a common name, which their calls carry apart. */
class NamespaceTool {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Required((value, param, report) => listOf(responsesTool)(value, param, report)) tools!: ResponsesTool[];
}

const others = variants(
  { remote_mcp: RemoteMcpTool, custom: CustomTool, namespace: NamespaceTool },
  { others: 'pass-through' },
);

export type ResponsesFunctionTool = { type: 'function' } & (NestedFunctionTool | FlatFunctionTool);
export type ResponsesTool =
  | ResponsesFunctionTool
  | ({ type: 'remote_mcp' } & RemoteMcpTool)
  | ({ type: 'custom' } & CustomTool)
  | ({ type: 'namespace' } & NamespaceTool)
  | { type: 'web_search' | 'file_search' | (string & {}) };

/** An element of `tools` : functions in either form, free-form tools, namespaces of both, and tools the vendor runs itself. */
export const responsesTool: FieldCheck = (value, param, report) => {
  if (!isJsonObject(value) || value['type'] !== 'function') return others(value, param, report);
  const form = isJsonObject(value['function']) || value['name'] == null ? NestedFunctionTool : FlatFunctionTool;
  object(form)(value, param, report);
};

/** The flat form of a function tool, whichever form came in. */
export function flatFunction(tool: ResponsesFunctionTool): FlatFunctionTool {
  return 'function' in tool ? tool.function : tool;
}

export const isFunctionTool = (tool: ResponsesTool): tool is ResponsesFunctionTool => tool.type === 'function';
export const isCustomTool = (tool: ResponsesTool): tool is { type: 'custom' } & CustomTool => tool.type === 'custom';
export const isNamespace = (tool: ResponsesTool): tool is { type: 'namespace' } & NamespaceTool =>
  tool.type === 'namespace';
export const isRemoteMcp = (tool: ResponsesTool): tool is { type: 'remote_mcp' } & RemoteMcpTool =>
  tool.type === 'remote_mcp';
