import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useMessages } from '../messages/language';
import { Icon } from './icons';

/**
 * A window above the page over the browser's own dialog, which keeps the focus inside, closes on Escape and gives the focus
 * back to where it came from. It is open while it is shown. `onSubmit` makes a form of it; `drawer` puts it at the side.
 */
export function Dialog({
  title,
  onClose,
  onSubmit,
  footer,
  kind = 'window',
  mayLeave = true,
  children,
}: {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly onSubmit?: () => void;
  readonly footer?: ReactNode;
  readonly kind?: 'window' | 'drawer';
  /** False while closing it by accident would lose something. */
  readonly mayLeave?: boolean;
  readonly children: ReactNode;
}) {
  const messages = useMessages();
  const reference = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = reference.current;
    const opener = document.activeElement;
    dialog?.showModal();
    // The browser would put it on the button that closes: first comes what is asked for, else what this is about.
    const field = dialog?.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)');
    (field ?? dialog?.querySelector<HTMLElement>('h2'))?.focus();
    return () => {
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
