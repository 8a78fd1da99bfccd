/** Injects the RateCounter. */
export const RATE_COUNTER = Symbol('RateCounter');
/** Injects what slows down who guesses the tokens of operators, wherever they are taken. */
export const OPERATOR_GUESSES = Symbol('GuessLimiter of operators');
/** Injects what slows down who guesses API keys. */
export const KEY_GUESSES = Symbol('GuessLimiter of API keys');
