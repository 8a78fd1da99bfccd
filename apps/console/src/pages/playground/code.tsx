import { useState } from 'react';
import type { JsonObject } from '../../api/types';
import { CodeBlock } from '../../components/code-block';
import { Card } from '../../components/page';
import { useMessages } from '../../messages/language';
import { readStored, writeStored } from '../../preferences/stored';

const LANGUAGES = ['curl', 'javascript', 'python'] as const;
type CodeLanguage = (typeof LANGUAGES)[number];

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const pythonLiteral = (json: string): string =>
  json.replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => ({ true: 'True', false: 'False', null: 'None' })[token] ?? token,
  );

/** The same request in each language, with the key left to the environment. */
export function codeFor(language: CodeLanguage, url: string, body: JsonObject): string {
  const json = JSON.stringify(body, null, 2);
  if (language === 'curl') {
    return `curl -s ${shellQuoted(url)} \\\n  -H "Authorization: Bearer $GATEWAY_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d ${shellQuoted(json)}`;
  }
  if (language === 'javascript') {
    return `const response = await fetch(${JSON.stringify(url)}, {\n  method: 'POST',\n  headers: {\n    authorization: \`Bearer \${process.env.GATEWAY_API_KEY}\`,\n    'content-type': 'application/json',\n  },\n  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),\n});\nconsole.log(await response.json());`;
  }
  return `import os, requests\n\nresponse = requests.post(\n    ${JSON.stringify(url)},\n    headers={"Authorization": f"Bearer {os.environ['GATEWAY_API_KEY']}"},\n    json=${pythonLiteral(json).replaceAll('\n', '\n    ')},\n)\nprint(response.json())`;
}

/** Files that stand in a request whole are named by their length, so that the code stays readable. */
const withoutFiles = (body: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify(body, (_name, value: unknown) =>
      typeof value === 'string' && value.startsWith('data:') ? `${value.slice(0, 30)}…` : value,
    ),
  ) as JsonObject;

export function Code({ path, body }: { readonly path: string; readonly body: JsonObject }) {
  const { playground } = useMessages();
  const [language, setLanguage] = useState<CodeLanguage>(
    () => LANGUAGES.find((each) => each === readStored('code')) ?? 'curl',
  );
  return (
    <Card
      title={playground.code}
      actions={
        <div className="row" role="group" aria-label={playground.code}>
          {LANGUAGES.map((each) => (
            <button
              key={each}
              type="button"
              className={each === language ? 'button small chosen' : 'button small quiet'}
              aria-pressed={each === language}
              onClick={() => {
                writeStored('code', each);
                setLanguage(each);
              }}
            >
              {playground.languages[each]}
            </button>
          ))}
        </div>
      }
    >
      <div className="stack tight">
        <CodeBlock name={playground.code} code={codeFor(language, location.origin + path, withoutFiles(body))} />
        <p className="muted small-text">{playground.codeHint}</p>
      </div>
    </Card>
  );
}
