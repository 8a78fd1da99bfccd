/** Stands on answers that the built-in sandbox made or will make: no real model is behind them. */
export const SANDBOX_HEADER = 'x-gateway-sandbox';
