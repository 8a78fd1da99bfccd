import { type ConfigClass, type VariableOptions, variablesOf } from '../variable.js';

export const CONFIG_TABLE_BEGIN = '<!-- config:begin -->';
export const CONFIG_TABLE_END = '<!-- config:end -->';

interface DocumentedVariable extends VariableOptions {
  readonly name: string;
  readonly defaultValue: string | undefined;
}

/** The text of `.env.example`: every variable commented out with its default or an example, grouped by class. */
export function renderEnvironmentExample(classes: readonly ConfigClass[]): string {
  const groups = classes.map((configClass) => {
    const variables = documentedVariables(configClass).map((variable) => {
      const shown = variable.secret ? '' : (variable.defaultValue ?? variable.example ?? '');
      return `# ${sentence(variable)}\n# ${variable.name}=${quoted(shown)}\n`;
    });
    return `# --- ${title(configClass)} ---\n\n${variables.join('\n')}`;
  });
  return `# Every variable is optional: with nothing set, the gateway runs in one process with its own database.\n\n${groups.join('\n')}`;
}

/** The table of variables in docs/configuration.md, between its two markers. */
export function renderConfigTable(classes: readonly ConfigClass[]): string {
  const rows = classes.flatMap((configClass) =>
    documentedVariables(configClass).map((variable) => {
      const shown = variable.defaultValue === undefined ? '' : `\`${variable.defaultValue}\``;
      return `| \`${variable.name}\` | ${shown} | ${sentence(variable).replaceAll('|', '\\|')} |`;
    }),
  );
  return [
    CONFIG_TABLE_BEGIN,
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
    CONFIG_TABLE_END,
  ].join('\n');
}

/**
 * The document with the table between its markers replaced.
 *
 * @throws Error when the document lacks one of the markers.
 */
export function replaceConfigTable(document: string, table: string): string {
  const begin = document.indexOf(CONFIG_TABLE_BEGIN);
  const end = document.indexOf(CONFIG_TABLE_END);
  if (begin < 0 || end < begin) {
    throw new Error(`The document needs the markers ${CONFIG_TABLE_BEGIN} and ${CONFIG_TABLE_END}, in this order.`);
  }
  return document.slice(0, begin) + table + document.slice(end + CONFIG_TABLE_END.length);
}

function documentedVariables(configClass: ConfigClass): DocumentedVariable[] {
  const defaults = new Map(Object.entries<string | number | boolean | undefined>({ ...new configClass() }));
  return [...variablesOf(configClass)].map(([name, options]) => {
    const value = defaults.get(name);
    return { ...options, name, defaultValue: value === undefined ? undefined : `${value}` };
  });
}

const title = (configClass: ConfigClass): string =>
  configClass.name.replace(/Config$/, '').replace(/(?<=[a-z])(?=[A-Z])/g, ' ');

const sentence = ({ description, unit, example, defaultValue, formerly }: DocumentedVariable): string =>
  [
    description,
    unit === undefined ? '' : `Unit: ${unit}.`,
    formerly === undefined ? '' : `Its old name, ${formerly}, is read in this release for the last time.`,
    example === undefined || defaultValue !== undefined ? '' : `Example: ${example}`,
  ]
    .filter((part) => part !== '')
    .join(' ');

/** Values with characters that a shell would read are quoted, so that the file can be sourced too. */
const quoted = (value: string): string => (/^[\w./:@,-]*$/.test(value) ? value : `'${value}'`);
