import { GatewayError } from '#contracts';

/** Nothing in the request can be changed to make it pass, and waiting does not help either. */
export const notAvailable = (model: string): GatewayError =>
  new GatewayError('model_not_available', `The model "${model}" is not available here: no upstream makes it.`, {
    param: 'model',
    log: `only the sandbox makes ${model}; name an upstream, or set SANDBOX_SELLS=true`,
  });
