import { type ComponentProps, type ReactNode, useEffect, useState } from 'react';
import { useMessages } from '../messages/language';
import { Icon, type IconName } from './icons';

/** How a button looks beside others: what the page is for, what cannot be undone, what is rarely needed, or small. */
type Look =
  'primary' | 'primary wide' | 'primary run' | 'danger' | 'quiet' | 'wide' | 'small' | 'small primary' | 'small quiet';

/** A button with its words, and an icon before them where one helps. */
export const Button = ({
  label,
  look,
  icon,
  ...button
}: Omit<ComponentProps<'button'>, 'className' | 'children'> & {
  readonly label: ReactNode;
  readonly look?: Look;
  readonly icon?: IconName;
}) => (
  <button type="button" className={look === undefined ? 'button' : `button ${look}`} {...button}>
    {icon !== undefined && <Icon name={icon} />}
    {label}
  </button>
);

/** How long a copy button says what came of it. */
const SHOWN_MS = 1_200;

interface CopyButtonProps {
  readonly text: string;
  readonly name: string;
  readonly label?: string;
}

/** Copies a text; a tick says for a second that it did, and a cross that the browser would not. */
export function CopyButton({ text, name, label }: CopyButtonProps) {
  const messages = useMessages();
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('refused'),
    );
  };
  const said = outcome === 'copied' ? messages.common.copied : outcome === 'refused' ? messages.common.copyRefused : '';
  return (
    <button
      type="button"
      className={label === undefined ? 'icon-button copy' : 'button copy'}
      aria-label={label === undefined ? messages.common.copy(name) : undefined}
      title={said || messages.common.copy(name)}
      onClick={(event) => {
        event.stopPropagation();
        copy();
      }}
    >
      <span className={outcome === 'copied' ? 'copied' : undefined}>
        <Icon name={outcome === 'copied' ? 'check' : outcome === 'refused' ? 'close' : 'copy'} size={14} />
      </span>
      {label}
      <span className="visually-hidden" role="status">
        {said}
      </span>
    </button>
  );
}
