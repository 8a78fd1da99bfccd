export const RATE_COUNTER = Symbol('RateCounter');
/** Injects the limiter of guesses at operators' tokens, wherever they are accepted. */
export const OPERATOR_GUESSES = Symbol('GuessLimiter of operators');
/** Injects the limiter of guesses at API keys. */
export const KEY_GUESSES = Symbol('GuessLimiter of API keys');
