import {
  type AssistantPart,
  GatewayError,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  type ModelTraits,
  omitUndefined,
  type OutputFormat,
  type ResultPart,
  takenEffort,
  type TextPart,
  type TextRequest,
  type ToolChoice,
  type Turn,
  type UserPart,
} from '#contracts';
import {
  acceptedCallId,
  acceptedLabel,
  argumentsAsJson,
  failedText,
  fileName,
  leastOutputLimit,
  mediaAddress,
  nonEmpty,
  offeredTools,
  reasoningEffort,
  takenSampling,
  wantsNoReasoning,
} from '../upstream/request-fields.js';
import { nativeHostedTools } from '../upstream/codec-failures.js';
import { currentSchema, objectSchema, SchemaWork, strictness } from '../upstream/object-schema.js';
import { jsonInWords } from '../upstream/system-in-front.js';
import { traitsOf } from '../traits/model-traits.js';
import type { ProtocolOptions } from '../upstream/protocol-codec.js';
import { ownSignature } from '../upstream/signatures.js';

/** Writes the canonical request as a responses body. The conversation is sent whole, so nothing is stored upstream. */
export function writeResponsesRequest(request: TextRequest, model: string, options: ProtocolOptions): JsonObject {
  if (request.stopSequences.length > 0)
    throw GatewayError.unsupported(request.fieldNames?.stop ?? 'stop', 'a stop sequence');
  const hosted = nativeHostedTools(request.hostedTools, 'responses', options);
  const work = new SchemaWork();
  const functions = offeredTools(request, hosted).map((tool) => ({
    type: 'function',
    name: tool.name,
    description: tool.description ?? null,
    parameters: objectSchema(tool, work),
    strict: strictness(tool) ?? false,
  }));
  const tools = nonEmpty([...functions, ...hosted]);
  const traits = traitsOf(options, 'responses', model);
  const reasoning = writeReasoning(request, traits, options);
  const { temperature, topP: top_p } = takenSampling(request, traits, reasoning?.['effort']);
  return omitUndefined({
    model,
    input: [
      ...jsonInWords(request).map(writeDeveloperText),
      ...request.turns.flatMap((turn) => writeTurn(turn, traits)),
    ],
    stream: request.stream,
    store: false,
    instructions: request.system.length > 0 ? request.system.join('\n\n') : undefined,
    max_output_tokens: writeLimit(request),
    temperature,
    top_p,
    safety_identifier: acceptedLabel(request.user),
    reasoning,
    include: reasoning ? ['reasoning.encrypted_content'] : undefined,
    text: writeTextOptions(request),
    prompt_cache_key: acceptedLabel(request.cacheKey),
    service_tier: request.serviceTier,
    tools,
    tool_choice: tools && writeToolChoice(request.toolChoice),
    parallel_tool_calls: tools && !request.parallelToolCalls ? false : undefined,
  });
}

const writeLimit = ({ maxOutputTokens: limit }: TextRequest): number | undefined =>
  limit === undefined ? undefined : Math.max(limit, leastOutputLimit('responses'));

function writeReasoning(
  { reasoning }: TextRequest,
  traits: ModelTraits,
  { disablesReasoning }: ProtocolOptions,
): JsonObject | undefined {
  if (!reasoning) return undefined;
  if (wantsNoReasoning(reasoning))
    return (disablesReasoning ?? reasoning.effort === 'none') ? { effort: takenEffort('none', traits) } : undefined;
  return omitUndefined({ effort: reasoningEffort(reasoning, traits), summary: reasoning.visible ? 'auto' : undefined });
}

function writeTextOptions({ format, verbosity }: TextRequest): JsonObject | undefined {
  const written = writeFormat(format);
  return written === undefined && verbosity === undefined ? undefined : omitUndefined({ format: written, verbosity });
}

function writeFormat(format: OutputFormat): JsonObject | undefined {
  if (format.type === 'text') return undefined;
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, strict } = format;
  const schema = currentSchema(format.schema);
  return omitUndefined({ type: 'json_schema', name, description, schema, strict });
}

function writeToolChoice(choice: ToolChoice): JsonValue {
  if (choice.mode !== 'required') return choice.mode;
  const [name] = choice.names;
  return choice.names.length === 1 && name !== undefined ? { type: 'function', name } : 'required';
}

const writeDeveloperText = (text: string): JsonObject => ({ type: 'message', role: 'developer', content: text });

function writeTurn(turn: Turn, { system_role: role }: ModelTraits): JsonObject[] {
  if (turn.role === 'system') return [{ type: 'message', role, content: turn.parts.map(writePart) }];
  return turn.role === 'user' ? writeUser(turn.parts) : turn.parts.flatMap(writeAssistantPart);
}

function writePart(part: TextPart | ImagePart): JsonObject {
  return part.type === 'text'
    ? { type: 'input_text', text: part.text }
    : omitUndefined({ type: 'input_image', image_url: mediaAddress(part.source), detail: part.detail ?? 'auto' });
}

function writeUser(parts: readonly UserPart[]): JsonObject[] {
  const results = parts.flatMap((part) =>
    part.type === 'result'
      ? [{ type: 'function_call_output', call_id: acceptedCallId('responses', part.callId), output: writeOutput(part) }]
      : [],
  );
  const content = parts.flatMap((part) => (part.type === 'result' ? [] : [writeUserPart(part)]));
  return content.length > 0 ? [...results, { type: 'message', role: 'user', content }] : results;
}

function writeOutput({ content, isError }: ResultPart): JsonValue {
  if (content.every((part) => part.type === 'text'))
    return failedText(content.map((part) => part.text).join('\n'), isError);
  const parts = content.map(writeUserPart);
  return isError ? [{ type: 'input_text', text: failedText('', isError) }, ...parts] : parts;
}

function writeUserPart(part: Exclude<UserPart, { type: 'result' }>): JsonObject {
  if (part.type !== 'file') return writePart(part);
  const { source } = part;
  if (source.kind === 'url') return { type: 'input_file', file_url: source.url };
  if (source.mediaType.startsWith('audio/'))
    throw GatewayError.unsupported(part.param ?? 'file', `a file of the type "${source.mediaType}"`);
  return { type: 'input_file', filename: fileName(part.name, source.mediaType), file_data: mediaAddress(source) };
}

function writeAssistantPart(part: AssistantPart): JsonObject[] {
  if (part.type === 'text')
    return [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: part.text, annotations: [] }],
      },
    ];
  if (part.type === 'call')
    return [
      {
        type: 'function_call',
        call_id: acceptedCallId('responses', part.id),
        name: part.name,
        arguments: argumentsAsJson(part.arguments),
      },
    ];
  const signature = ownSignature('responses', part);
  if (signature === undefined) return [];
  const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
  return [{ type: 'reasoning', summary, encrypted_content: signature }];
}
