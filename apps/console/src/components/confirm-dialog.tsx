import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/language';
import { Button } from './button';
import { Dialog } from './dialog';
import { Failure } from './states';

interface FormDialogProps<Input> {
  readonly title: string;
  /** The word on the button, where it is not the title. */
  readonly submit?: string;
  readonly isReady?: boolean;
  /** What the form does, as far as it has gone. */
  readonly change: Pick<UseMutationResult, 'isPending' | 'error'> & {
    readonly mutate?: (input: Input, options: { readonly onSuccess: () => void }) => void;
  };
  /** The words for leaving it, where they say more than that. */
  readonly cancel?: string;
  readonly isDangerous?: boolean;
  /** What the change is given; the window closes once it is made. */
  readonly send?: Input;
  /** In place of `send`, where more is to be done. */
  readonly onSubmit?: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A window with a form or a question, its two buttons, and what went wrong. */
export function FormDialog<Input>({
  title,
  submit = title,
  isReady = true,
  change,
  cancel,
  isDangerous = false,
  send,
  onSubmit = () => send !== undefined && change.mutate?.(send, { onSuccess: onClose }),
  onClose,
  children,
}: FormDialogProps<Input>) {
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
