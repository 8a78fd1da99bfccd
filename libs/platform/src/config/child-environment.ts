/** The environment for a program that this process starts: our own plus `additions`, which win. */
export const childEnvironment = (additions: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...additions,
});
