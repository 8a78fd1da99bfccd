import type { ComponentProps, ReactNode } from 'react';
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
