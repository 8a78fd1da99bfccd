/** One line for people whose Node is too old; null when it will do. Importing the file ends a process on such a Node. */
export function nodeProblem(version: string): string | null;
