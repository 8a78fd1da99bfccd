import { GatewayError, type ModelTraits, type TextCall, type TextProtocol, type TextRequest } from '#contracts';

/** A request, as far as it shows what its model is asked for. */
type AskedCall = Pick<TextCall, 'style' | 'isTranslated' | 'request'>;

/** The refusal of what a model does not take and nothing else can be sent for; undefined where it may be asked. */
export function refusedByModel(call: AskedCall, protocol: TextProtocol, traits: ModelTraits): GatewayError | undefined {
  const isTranslated = call.style !== protocol || call.isTranslated === true;
  // What passes through is the vendor's to refuse, where no other upstream would help.
  const refusesForce = isTranslated && traits.forced_tools === 'refused';
  const refusesTools = protocol === 'chat' && traits.tools_over_chat === 'refused';
  if (!refusesForce && !refusesTools) return undefined;
  const request = asked(call, isTranslated);
  if (!request) return undefined;
  const { toolChoice, tools } = request;
  if (refusesForce && toolChoice.mode === 'required')
    return refusal(
      toolChoice.param ?? 'tool_choice',
      'the model takes no demand to call a function. Leave it the choice, and ask for the call in the prompt',
    );
  if (refusesTools && tools.length > 0 && !isKeptFromThinking(request, traits))
    return refusal(
      'tools',
      'the upstream of this model takes functions over the responses protocol alone. Its operator offers them by an upstream of that protocol',
    );
  return undefined;
}

const isKeptFromThinking = ({ reasoning }: TextRequest, { efforts }: ModelTraits): boolean =>
  reasoning?.effort === 'none' && efforts.includes('none');

/** Only its own vendor understands all of some requests that pass through. */
function asked(call: AskedCall, isTranslated: boolean): TextRequest | undefined {
  try {
    return call.request();
  } catch (error) {
    if (isTranslated || !(error instanceof GatewayError)) throw error;
    return undefined;
  }
}

const refusal = (param: string, what: string): GatewayError =>
  new GatewayError('unsupported_parameter', `${param}: ${what}.`, { param });

/** The request without a demand for a call, which stands in its prompt instead. */
export function asksInWords(request: TextRequest, { forced_tools: forced }: ModelTraits): TextRequest {
  const { toolChoice, system } = request;
  if (forced !== 'in_words' || toolChoice.mode !== 'required') return request;
  const names = toolChoice.names.length > 0 ? toolChoice.names.join(', ') : 'one of the functions';
  return {
    ...request,
    toolChoice: { mode: 'auto' },
    system: [...system, `Answer with a call of ${names}, and nothing else.`],
  };
}
