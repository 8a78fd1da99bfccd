import { type ChangeEvent, type ComponentProps, type ReactNode, useId, useState } from 'react';
import { ApiError } from '../api/api-error';

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

/** What was typed, without the event that brought it. */
interface Typing {
  readonly onType?: ((value: string) => void) | undefined;
}

const typing = (onType: Typing['onType']) => onType && { onChange: (event: Changed) => onType(event.target.value) };
type Changed = ChangeEvent<HTMLInputElement | HTMLTextAreaElement>;

export const TextField = ({
  label,
  hint,
  error,
  aside,
  onType,
  ...input
}: Described & Typing & Omit<ComponentProps<'input'>, Own>) => (
  <Field label={label} hint={hint} error={error} aside={aside}>
    {(control) => <input {...control} {...typing(onType)} {...input} />}
  </Field>
);

type Typed = ComponentProps<typeof TextField>;

/** The email address for signing in; the browser offers the one it knows. */
export const EmailField = (field: Typed) => <TextField {...field} type="email" autoComplete="username" />;

/** @param props.isNew a new password: the browser offers to generate one instead of the one it knows. */
export const PasswordField = ({ isNew = false, ...field }: Typed & { readonly isNew?: boolean }) => (
  <TextField {...field} type="password" autoComplete={isNew ? 'new-password' : 'current-password'} />
);

export const TextArea = ({
  label,
  hint,
  error,
  aside,
  onType,
  ...input
}: Described & Typing & Omit<ComponentProps<'textarea'>, Own>) => (
  <Field label={label} hint={hint} error={error} aside={aside}>
    {(control) => <textarea {...control} {...typing(onType)} {...input} />}
  </Field>
);

export const CodeArea = (area: Omit<ComponentProps<typeof TextArea>, 'className' | 'spellCheck'>) => (
  <TextArea {...area} className="code-area" spellCheck={false} />
);

export const Select = ({ label, hint, error, aside, ...input }: Described & Omit<ComponentProps<'select'>, Own>) => (
  <Field label={label} hint={hint} error={error} aside={aside}>
    {(control) => <select {...control} {...input} />}
  </Field>
);

/** A list to choose one of. `choices`: each value with the words for it. `none`: the words for no choice, where that is one. */
export const Choice = ({
  choices,
  none,
  onChoose,
  ...select
}: Omit<ComponentProps<typeof Select>, 'onChange' | 'children'> & {
  readonly choices: readonly (readonly [value: string, words: string])[];
  readonly none?: string;
  readonly onChoose: (value: string) => void;
}) => (
  <Select {...select} onChange={(event) => onChoose(event.target.value)}>
    {none !== undefined && <option value="">{none}</option>}
    {choices.map(([value, words]) => (
      <option key={value} value={value}>
        {words}
      </option>
    ))}
  </Select>
);

/** What a field shows of a value that may be missing, and what was typed into it: nothing is null. */
export const typed = (value: string | number | null): string => (value === null ? '' : String(value));
export const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
export const numberOrNull = (text: string): number | null => (text.trim() === '' ? null : Number(text));
/** When something begins, as it is sent: the local time of a field; now where that is empty. */
export const beginning = (local: string): { effective_from?: string } =>
  local === '' ? {} : { effective_from: new Date(local).toISOString() };

/** The names of a form's values of one type. */
type NamesOf<Values, Type> = { [Name in keyof Values]: Values[Name] extends Type ? Name : never }[keyof Values] &
  string;

/** What a form holds: gives each control its value, how to change it, and what the server refused of it. */
export interface Inputs<Values> {
  readonly values: Values;
  readonly set: (part: Partial<Values>) => void;
  /** Of a field to type in. `wire`: its name in the request, where that is another. */
  readonly text: (name: NamesOf<Values, string>, wire?: string) => Required<Typing> & Refusable & { value: string };
  /** Of a list to choose from. */
  readonly choice: (name: NamesOf<Values, string>, wire?: string) => Choosing & Refusable & { value: string };
  /** Of a checkbox. */
  readonly check: (name: NamesOf<Values, boolean>) => Pick<ComponentProps<'input'>, 'checked' | 'onChange'>;
  readonly about: (wire: string) => string | undefined;
}

type Refusable = Pick<Described, 'error'>;
interface Choosing {
  readonly onChoose: (value: string) => void;
}

/** @param failure what the server answered to the form, if it refused it. @param onChange called before each change. */
export function useInputs<Values extends object>(
  first: Values | (() => Values),
  failure: Error | null = null,
  onChange?: () => void,
): Inputs<Values> {
  const [values, setValues] = useState(first);
  const set = (part: Partial<Values>) => {
    onChange?.();
    setValues((before) => ({ ...before, ...part }));
  };
  const about = (wire: string) => (failure instanceof ApiError ? failure.about(wire) : undefined);
  const change = (name: string) => (value: unknown) => set({ [name]: value } as Partial<Values>);
  const of = (name: NamesOf<Values, string>, wire: string = name) => ({
    value: values[name] as string,
    error: about(wire),
  });
  return {
    values,
    set,
    about,
    text: (name, wire) => ({ ...of(name, wire), onType: change(name) }),
    choice: (name, wire) => ({ ...of(name, wire), onChoose: change(name) }),
    check: (name) => ({
      checked: values[name] as boolean,
      onChange: ({ target }) => change(name)(target.checked),
    }),
  };
}

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

interface SegmentsProps extends Described {
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly value: string | undefined;
  readonly onChoose: (value: string) => void;
}

/** A few choices side by side. */
export function Segments({ label, choices, value, onChoose, hint, error }: SegmentsProps) {
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
