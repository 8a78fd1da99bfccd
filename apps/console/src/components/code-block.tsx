import { CopyButton } from './button';

/** Code to read and copy. */
export const CodeBlock = ({ code, name }: { readonly code: string; readonly name: string }) => (
  <div className="code-block">
    <pre tabIndex={0} role="region" aria-label={name}>
      <code>{code}</code>
    </pre>
    <CopyButton text={code} name={name} />
  </div>
);
