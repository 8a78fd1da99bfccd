// Plain JavaScript without imports, so that every Node reads it: what an older one lacks would otherwise show as a
// SyntaxError in some library.

/** The oldest Node this runs on, as package.json says. */
const OLDEST = [20, 19];

/** One line for people whose Node is too old; null when it will do. */
export function nodeProblem(version) {
  const [major, minor] = version.split('.').map(Number);
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  return isNewEnough ? null : `The gateway needs Node ${OLDEST.join('.')} or newer; this is Node ${version}.`;
}

const problem = nodeProblem(process.versions.node);
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
