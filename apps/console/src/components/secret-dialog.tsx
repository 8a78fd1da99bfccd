import { type ReactNode, useState } from 'react';
import { useMessages } from '../messages/language';
import { Button, CopyButton } from './button';
import { Dialog } from './dialog';
import { Check } from './fields';
import { Notice } from './page';

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  /** Offers the secret as a line of an environment file of this name and variable. */
  readonly fileName?: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/**
 * Shows a secret once. It lives in this window alone: not in the address, in storage, or in a cache. Closing needs a tick,
 * so that it is not lost by a slip.
 */
export function SecretDialog({ title, secret, fileName, onClose, children }: SecretDialogProps) {
  const { keys } = useMessages();
  const [isStored, setStored] = useState(false);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      mayLeave={isStored}
      footer={
        <>
          {fileName !== undefined && (
            <Button label={keys.downloadEnv} onClick={() => saveFile(fileName, `GATEWAY_API_KEY=${secret}\n`)} />
          )}
          <Button look="primary" label={keys.done} disabled={!isStored} onClick={onClose} />
        </>
      }
    >
      <div className="stack">
        <Notice tone="warn">{keys.secretText}</Notice>
        <p className="secret">
          <code className="break" data-testid="secret">
            {secret}
          </code>
          <CopyButton text={secret} name={keys.secret} />
        </p>
        {children}
        <Check label={keys.stored} checked={isStored} onChange={(event) => setStored(event.target.checked)} />
      </div>
    </Dialog>
  );
}

/** Has the browser save a text as a file. */
export function saveFile(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
