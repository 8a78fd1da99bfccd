/** The environment for a program that this process starts: our own plus `additions`, which win. */
export const childEnvironment = (additions: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...additions,
});

const CHILD_NUMBER = 'GATEWAY_CHILD_NUMBER';

/** What a child that serves the same port as its siblings is told: which of them it is, from 1, and the port. */
export const childSettings = (number: number, port: number): Readonly<Record<string, string>> => ({
  [CHILD_NUMBER]: String(number),
  PORT: String(port),
});

/** Which of its parent's children this process is, as `childSettings` told it. */
export const childNumber = (): number => Number(process.env[CHILD_NUMBER]);
