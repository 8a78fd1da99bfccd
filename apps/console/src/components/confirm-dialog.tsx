import type { ReactNode } from 'react';
import { useMessages } from '../messages/language';
import { ProofRefused } from '../shell/proof-refused';
import { Dialog } from './dialog';
import { Failure } from './states';

/** A window with a form or a question, its two buttons, and what went wrong. */
export function FormDialog({
  title,
  submit,
  isReady = true,
  isBusy,
  failure,
  isDangerous = false,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: ReactNode;
  readonly submit: string;
  readonly isReady?: boolean;
  readonly isBusy: boolean;
  readonly failure: Error | null;
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
      onSubmit={() => isReady && !isBusy && onSubmit()}
      footer={
        <>
          <button type="button" className="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button
            type="submit"
            className={isDangerous ? 'button danger' : 'button primary'}
            disabled={!isReady || isBusy}
          >
            {submit}
          </button>
        </>
      }
    >
      <div className="stack">
        {children}
        {failure && !(failure instanceof ProofRefused) && <Failure of={failure} />}
      </div>
    </Dialog>
  );
}
