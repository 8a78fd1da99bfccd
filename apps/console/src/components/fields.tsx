import { type ComponentProps, type ReactNode, useId } from 'react';

interface Described {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Beside the label, such as a counter. */
  readonly aside?: ReactNode;
}

/** Attributes that tie a control to its hint and error. */
const describing = (id: string, { hint, error }: Described) => ({
  id,
  'aria-invalid': error !== undefined || undefined,
  'aria-describedby':
    [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ') || undefined,
});

/** A label above a control, with what to know below it, and what is wrong. */
export function Field({
  label,
  hint,
  error,
  aside,
  children,
}: Described & { readonly children: (control: ReturnType<typeof describing>) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        {aside !== undefined && <span className="muted tiny">{aside}</span>}
      </div>
      {children(describing(id, { label, hint, error }))}
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

/** A hint and an error below a control. */
export function FieldNotes({ id, hint, error }: Pick<Described, 'hint' | 'error'> & { readonly id: string }) {
  return (
    <>
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </>
  );
}

type Own = keyof Described | 'id';

export const TextField = ({ label, hint, error, aside, ...input }: Described & Omit<ComponentProps<'input'>, Own>) => (
  <Field label={label} hint={hint} error={error} aside={aside}>
    {(control) => <input {...control} {...input} />}
  </Field>
);

interface Typed {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onType: (value: string) => void;
}

/** The email address for signing in; the browser offers the one it knows. */
export const EmailField = ({ onType, ...field }: Typed) => (
  <TextField {...field} type="email" autoComplete="username" onChange={(event) => onType(event.target.value)} />
);

/** @param props.isNew a new password: the browser offers to generate one instead of the one it knows. */
export const PasswordField = ({ isNew = false, onType, ...field }: Typed & { readonly isNew?: boolean }) => (
  <TextField
    {...field}
    type="password"
    autoComplete={isNew ? 'new-password' : 'current-password'}
    onChange={(event) => onType(event.target.value)}
  />
);

export const TextArea = ({
  label,
  hint,
  error,
  aside,
  ...input
}: Described & Omit<ComponentProps<'textarea'>, Own>) => (
  <Field label={label} hint={hint} error={error} aside={aside}>
    {(control) => <textarea {...control} {...input} />}
  </Field>
);

export const Select = ({ label, hint, error, aside, ...input }: Described & Omit<ComponentProps<'select'>, Own>) => (
  <Field label={label} hint={hint} error={error} aside={aside}>
    {(control) => <select {...control} {...input} />}
  </Field>
);

/** A checkbox with its label; `kind` switch for settings that take effect at once. */
export function Check({
  label,
  kind = 'box',
  hint,
  ...input
}: { readonly label: ReactNode; readonly kind?: 'box' | 'switch'; readonly hint?: string } & Omit<
  ComponentProps<'input'>,
  'type'
>) {
  const id = useId();
  return (
    <div className="field">
      <label className={kind === 'switch' ? 'check switch' : 'check'}>
        <input
          type="checkbox"
          {...(kind === 'switch' && { role: 'switch' })}
          {...(hint !== undefined && { 'aria-describedby': `${id}-hint` })}
          {...input}
        />
        <span>{label}</span>
      </label>
      <FieldNotes id={id} hint={hint} />
    </div>
  );
}

/** A few choices side by side. */
export function Segments({
  label,
  choices,
  value,
  onChoose,
  hint,
  error,
}: Described & {
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly value: string | undefined;
  readonly onChoose: (value: string) => void;
}) {
  const id = useId();
  return (
    <fieldset className="field" aria-describedby={describing(id, { label, hint, error })['aria-describedby']}>
      <legend>{label}</legend>
      <div className="segments">
        {choices.map((choice) => (
          <label key={choice.value}>
            <input
              type="radio"
              name={id}
              value={choice.value}
              checked={value === choice.value}
              onChange={() => onChoose(choice.value)}
            />
            {choice.label}
          </label>
        ))}
      </div>
      <FieldNotes id={id} hint={hint} error={error} />
    </fieldset>
  );
}
