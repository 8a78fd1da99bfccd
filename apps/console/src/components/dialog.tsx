import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useMessages } from '../messages/language';
import { Icon } from './icons';

/**
 * Puts the focus on what a dialog asks for, else on what it is about: the browser would choose the button that closes.
 * A busy Chromium now and then gives a dialog no focus before it is painted, so that it is tried until it is there or the dialog goes.
 */
function focusWithin(dialog: HTMLDialogElement): () => void {
  const target =
    dialog.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)') ?? dialog.querySelector('h2');
  let frame = 0;
  const attempt = (): void => {
    target?.focus();
    if (!dialog.contains(document.activeElement)) frame = requestAnimationFrame(attempt);
  };
  attempt();
  return () => cancelAnimationFrame(frame);
}

interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly onSubmit?: () => void;
  readonly footer?: ReactNode;
  readonly kind?: 'window' | 'drawer';
  /** False while closing it by accident would lose something. */
  readonly mayLeave?: boolean;
  readonly children: ReactNode;
}

/**
 * A window above the page over the browser's own dialog, which keeps the focus inside, closes on Escape and gives the focus
 * back to where it came from. It is open while it is shown. `onSubmit` makes a form of it; `drawer` puts it at the side.
 */
export function Dialog({ title, onClose, onSubmit, footer, kind = 'window', mayLeave = true, children }: DialogProps) {
  const messages = useMessages();
  const reference = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = reference.current;
    const opener = document.activeElement;
    dialog?.showModal();
    const stop = dialog ? focusWithin(dialog) : undefined;
    return () => {
      stop?.();
      dialog?.close();
      // Removing an open dialog does not give the focus back by itself.
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
  const content = (
    <>
      <div className="dialog-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {mayLeave && (
          <button type="button" className="icon-button" aria-label={messages.common.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </div>
      <div className="dialog-body">{children}</div>
      {footer !== undefined && <div className="dialog-foot">{footer}</div>}
    </>
  );
  return (
    <dialog
      ref={reference}
      className={kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (mayLeave) onClose();
      }}
      onClick={(event) => {
        if (mayLeave && kind === 'drawer' && event.target === event.currentTarget) onClose();
      }}
    >
      {onSubmit ? (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      ) : (
        content
      )}
    </dialog>
  );
}
