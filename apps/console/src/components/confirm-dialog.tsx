import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/language';
import { Button } from './button';
import { Dialog } from './dialog';
import { Failure } from './states';

/** A window with a form or a question, its two buttons, and what went wrong. */
export function FormDialog({
  title,
  submit,
  isReady = true,
  change,
  cancel,
  isDangerous = false,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: ReactNode;
  readonly submit: string;
  readonly isReady?: boolean;
  /** What the form does, as far as it has gone. */
  readonly change: Pick<UseMutationResult, 'isPending' | 'error'>;
  /** The words for leaving it, where they say more than that. */
  readonly cancel?: string;
  readonly isDangerous?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { common } = useMessages();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => isReady && !change.isPending && onSubmit()}
      footer={
        <>
          <Button label={cancel ?? common.cancel} onClick={onClose} />
          <button
            type="submit"
            className={isDangerous ? 'button danger' : 'button primary'}
            disabled={!isReady || change.isPending}
          >
            {submit}
          </button>
        </>
      }
    >
      <div className="stack">
        {children}
        <Failure of={change.error} />
      </div>
    </Dialog>
  );
}
