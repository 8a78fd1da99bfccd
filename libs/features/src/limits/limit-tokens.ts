export const RATE_COUNTER = Symbol('RateCounter');
/** Injects the limiter of guesses at operators' tokens, wherever they are accepted. */
export const OPERATOR_GUESSES = Symbol('GuessLimiter of operators');
export const KEY_GUESSES = Symbol('GuessLimiter of API keys');
