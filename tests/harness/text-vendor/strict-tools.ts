import { brokenInside, isOneObject, type Schema } from './strict-schemas.js';

interface OfferedFunction {
  readonly name?: string;
  readonly strict?: boolean | null;
  readonly parameters?: Schema | null;
  readonly input_schema?: Schema;
  readonly parametersJsonSchema?: Schema;
}

/** A tool of any protocol. */
interface Tool extends OfferedFunction {
  readonly type?: string;
  readonly function?: OfferedFunction;
  readonly functionDeclarations?: readonly OfferedFunction[];
}

interface Calling {
  readonly mode?: string;
  readonly allowedFunctionNames?: readonly string[];
}

interface Body {
  readonly tools?: readonly Tool[];
  readonly tool_choice?: unknown;
  readonly toolConfig?: { readonly functionCallingConfig?: Calling };
}

/** What names of functions each protocol takes. */
const NAMES = {
  messages: /^[a-zA-Z0-9_-]{1,128}$/,
  chat: /^[a-zA-Z0-9_-]{1,64}$/,
  responses: /^[a-zA-Z0-9_-]{1,64}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
} as const;
type Protocol = keyof typeof NAMES;

const functionsOf = ({ tools = [] }: Body): readonly OfferedFunction[] =>
  tools.flatMap((tool) => tool.functionDeclarations ?? tool.function ?? tool);

function brokenByName(protocol: Protocol, body: Body): string | undefined {
  const rule = NAMES[protocol];
  const broken = functionsOf(body).find(({ name }) => name !== undefined && !rule.test(name));
  return broken && `Invalid name of a function: "${broken.name}" does not match ${rule.source}.`;
}

const schemaOf = (offered: OfferedFunction): Schema | undefined =>
  offered.parameters ?? offered.input_schema ?? offered.parametersJsonSchema;

/** Every vendor wants one object; those of two protocols also want its fields listed, and all of them needed where they enforce it. */
function brokenBySchema(protocol: Protocol, body: Body): string | undefined {
  for (const offered of functionsOf(body)) {
    const schema = schemaOf(offered);
    if (!schema) continue;
    if (!isOneObject(schema))
      return `Invalid schema for function '${offered.name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
    const inside = brokenInside(protocol, offered.name ?? '', schema);
    if (inside) return inside;
    if (protocol !== 'chat' && protocol !== 'responses') continue;
    if (!schema.properties) return `Invalid schema for function '${offered.name}': object schema missing properties.`;
    if (offered.strict === true && !isEnforceable(schema))
      return `Invalid schema for function '${offered.name}': 'required' is required to be supplied and to be an array including every key in properties.`;
  }
  return undefined;
}

function isEnforceable(schema: Schema): boolean {
  const { properties = {}, required = [], additionalProperties: others, type } = schema;
  const fields = Object.entries(properties);
  if (type === 'object' && others !== false) return false;
  return fields.every(
    ([name, field]) => (required as readonly string[]).includes(name) && isEnforceable(field as Schema),
  );
}

/** A choice that is more than a word for leaving it to the model. */
function brokenByChoice(body: Body): string | undefined {
  const { tool_choice: choice, toolConfig, tools = [] } = body;
  const calling = toolConfig?.functionCallingConfig;
  const isAsked = choice !== undefined || calling?.mode === 'ANY';
  if (!isAsked) return undefined;
  const field = calling ? 'toolConfig.functionCallingConfig' : 'tool_choice';
  if (tools.length === 0) return `${field} is only allowed when tools are specified.`;
  const names = new Set(functionsOf(body).map(({ name }) => name));
  const unknown = chosenNames(choice, calling).find((name) => !names.has(name));
  return unknown === undefined ? undefined : `${field}: '${unknown}' not found in tools.`;
}

function chosenNames(choice: unknown, calling: Calling | undefined): readonly string[] {
  if (calling) return calling.allowedFunctionNames ?? [];
  if (typeof choice !== 'object' || choice === null) return [];
  const { name, function: chosen } = choice as { name?: string; function?: { name: string } };
  return [name ?? chosen?.name].filter((one) => one !== undefined);
}

/** The sentence with which a vendor that keeps to its own published rules refuses the tools of a body. */
export const brokenByTools = (protocol: Protocol, body: unknown): string | undefined =>
  brokenByName(protocol, body as Body) ?? brokenByChoice(body as Body) ?? brokenBySchema(protocol, body as Body);
