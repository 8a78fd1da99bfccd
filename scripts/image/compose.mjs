// Reads docker-compose.yml as the engine would: anchors, env_file, and ${NAME}, ${NAME:-default}, ${NAME:?message}.
import { parseEnv } from 'node:util';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The command and the whole environment of each service that runs our image. */
export function gatewayServices(folder) {
  const variables = parseEnv(readFileSync(`${folder}/.env`, 'utf8'));
  const { services } = parse(readFileSync(`${folder}/docker-compose.yml`, 'utf8'), { merge: true });
  const ours = Object.entries(services).filter(([, { image }]) => image.startsWith('generation-gateway:'));
  return Object.fromEntries(
    ours.map(([name, { command, environment, env_file: files }]) => {
      const own = Object.entries(environment).map(([key, value]) => [key, interpolate(String(value), variables)]);
      return [
        name,
        { command, environment: { ...(files.includes('.env') ? variables : {}), ...Object.fromEntries(own) } },
      ];
    }),
  );
}

function interpolate(text, variables) {
  return text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name, kind, rest) => {
    if (variables[name]) return variables[name];
    if (kind === '?') throw new Error(`${name} is not set: ${rest}`);
    return rest ?? '';
  });
}
