import { useState } from 'react';
import type { ConsoleModel, JsonObject, JsonValue, ModelField } from '../../api/types';
import { Check, Choice, Segments, TextArea, TextField } from '../../components/fields';
import { Icon } from '../../components/icons';
import { useMessages } from '../../messages/language';
import { FileInputs } from './file-inputs';
import { choicesOf, fits, innerFields, textOf } from './form-values';

const MOST_SEGMENTS = 7;
const LONG_TEXT = 200;

interface FieldProps {
  readonly model: ConsoleModel;
  readonly field: ModelField;
  readonly value: JsonValue | undefined;
  /** Undefined takes the value back, so that the default holds. */
  readonly onChange: (value: JsonValue | undefined) => void;
  readonly error?: string | undefined;
}

const numberIn = (schema: JsonObject, name: string): number | undefined =>
  typeof schema[name] === 'number' ? schema[name] : undefined;

/** The name of a field for people, where there is one; otherwise as it is written in the request. */
export function useFieldLabel(): (name: string) => string {
  const { fields } = useMessages().playground;
  return (name) => (Object.hasOwn(fields, name) ? fields[name as keyof typeof fields] : name.replaceAll('_', ' '));
}

/** One control for what the schema of a field allows. */
export function FormField(props: FieldProps) {
  const { field } = props;
  const choices = choicesOf(field);
  if (choices) return <ChoiceField {...props} choices={choices} />;
  switch (field.schema['type']) {
    case 'boolean':
      return <FlagField {...props} />;
    case 'integer':
      return <NumberField {...props} />;
    case 'array':
      return isObjects(field) ? <ObjectsField {...props} /> : <FilesField {...props} />;
    case 'object':
      return <ObjectField {...props} />;
    default:
      return field.schema['pattern'] !== undefined && field.group === 'inputs' ? (
        <FilesField {...props} />
      ) : (
        <WordsField {...props} />
      );
  }
}

const isObjects = ({ schema }: ModelField): boolean =>
  (schema['items'] as JsonObject | undefined)?.['type'] === 'object';

/** What the catalogue says of a field, in the reader's language. */
function useNote({ note }: ModelField): string | undefined {
  const { fieldNotes } = useMessages();
  return note === '' ? undefined : (fieldNotes[note] ?? note);
}

function Note({ of: field }: { readonly of: ModelField }) {
  const note = useNote(field);
  return note !== undefined && <p className="hint">{note}</p>;
}

/** The hints of a field: its note, its unit. */
function useHint({ field }: FieldProps): string | undefined {
  const note = useNote(field);
  // A note that only names the unit says what the label says.
  return field.unit !== null && !field.note.includes(' ') ? undefined : note;
}

function useLabelWithUnit({ field }: FieldProps): string {
  const { units } = useMessages().playground;
  const label = useFieldLabel()(field.name);
  return field.unit === null ? label : `${label} (${units[field.unit]})`;
}

function ChoiceField(props: FieldProps & { readonly choices: readonly JsonValue[] }) {
  const { field, value, onChange, error, choices } = props;
  const { common } = useMessages();
  const label = useLabelWithUnit(props);
  const hint = useHint(props);
  const shown = value ?? field.default;
  const choose = (text: string) => onChange(choices.find((each) => textOf(each) === text));
  if (choices.length <= MOST_SEGMENTS) {
    return (
      <Segments
        label={label}
        hint={hint}
        error={error}
        choices={choices.map((each) => ({ value: textOf(each), label: textOf(each) }))}
        value={shown === null ? undefined : textOf(shown)}
        onChoose={choose}
      />
    );
  }
  return (
    <Choice
      label={label}
      hint={hint}
      error={error}
      value={shown === null ? '' : textOf(shown)}
      onChoose={choose}
      {...(shown === null && { none: common.notSet })}
      choices={choices.map((each) => [textOf(each), textOf(each)])}
    />
  );
}

function FlagField(props: FieldProps) {
  const label = useLabelWithUnit(props);
  const { value, field, onChange } = props;
  const note = useNote(field);
  return (
    <Check
      kind="switch"
      label={label}
      {...(note !== undefined && { hint: note })}
      checked={(value ?? field.default) === true}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
}

function NumberField(props: FieldProps) {
  const { field, value, onChange, error } = props;
  const { playground, common } = useMessages();
  const [min, max] = [numberIn(field.schema, 'minimum'), numberIn(field.schema, 'maximum')];
  const range = min !== undefined && max !== undefined ? playground.range(min, max) : undefined;
  // While it is typed in, an empty field does not show its default already.
  const [typed, setTyped] = useState<string>();
  const isWrong = value !== undefined && !fits(field, value);
  return (
    <TextField
      label={useLabelWithUnit(props)}
      hint={useHint(props)}
      error={isWrong ? playground.wholeNumber(range) : error}
      aside={range}
      type="number"
      min={min}
      max={max}
      placeholder={field.default === null ? common.notSet : undefined}
      value={typed ?? textOf(value ?? field.default ?? '')}
      onChange={(event) => {
        setTyped(event.target.value);
        onChange(event.target.value === '' ? undefined : Number(event.target.value));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function WordsField(props: FieldProps) {
  const { field, value, onChange, error } = props;
  const { playground } = useMessages();
  const most = numberIn(field.schema, 'maxLength');
  const text = typeof value === 'string' ? value : '';
  const common = {
    label: useLabelWithUnit(props),
    hint: useHint(props),
    error,
    value: text,
    required: field.required,
    ...(most !== undefined && text.length > most / 2 && { aside: playground.counter(text.length, most) }),
  };
  const change = (typed: string) => onChange(typed === '' ? undefined : typed);
  if (most !== undefined && most < LONG_TEXT) return <TextField {...common} onType={change} />;
  return <TextArea {...common} rows={field.name === 'prompt' ? 4 : 2} onType={change} />;
}

function FilesField(props: FieldProps) {
  return <FileInputs {...props} label={useLabelWithUnit(props)} note={useHint(props)} />;
}

/** The last part of the name of a field inside of an object. */
const ownName = ({ name }: ModelField): string => name.replace(/^.*[.\]]\.?/, '');

function ObjectFields({ model, field, value, onChange }: FieldProps & { readonly value: JsonObject }) {
  return (
    <div className="stack tight">
      {innerFields(model, field).map((inner) => {
        const name = ownName(inner);
        return (
          <FormField
            key={inner.name}
            model={model}
            field={{ ...inner, name }}
            value={value[name]}
            onChange={(next) => {
              const { [name]: _before, ...rest }: Record<string, JsonValue> = value;
              onChange(next === undefined ? rest : { ...rest, [name]: next });
            }}
          />
        );
      })}
    </div>
  );
}

function ObjectField(props: FieldProps) {
  const value = (props.value ?? {}) as JsonObject;
  const change = (next: JsonValue | undefined) =>
    props.onChange(next && Object.keys(next).length > 0 ? next : undefined);
  return (
    <fieldset className="field boxed">
      <legend>{useLabelWithUnit(props)}</legend>
      <Note of={props.field} />
      <ObjectFields {...props} value={value} onChange={change} />
      {props.error !== undefined && <p className="field-error">{props.error}</p>}
    </fieldset>
  );
}

function ObjectsField(props: FieldProps) {
  const { playground, common } = useMessages();
  const { field, onChange, error } = props;
  const entries = Array.isArray(props.value) ? (props.value as JsonObject[]) : [];
  const most = numberIn(field.schema, 'maxItems') ?? Infinity;
  const set = (next: JsonObject[]) => onChange(next.length === 0 ? undefined : next);
  const label = useLabelWithUnit(props);
  return (
    <fieldset className="field boxed">
      <legend>{label}</legend>
      <Note of={field} />
      {entries.map((entry, index) => (
        // Entries have no identity but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className="boxed">
          <ObjectFields
            {...props}
            value={entry}
            onChange={(next) => set(entries.map((each, at) => (at === index ? ((next ?? {}) as JsonObject) : each)))}
          />
          <button
            type="button"
            className="button small"
            onClick={() => set(entries.filter((_each, at) => at !== index))}
          >
            {common.remove} {index + 1}
          </button>
        </div>
      ))}
      {entries.length < most && (
        <button type="button" className="button small upload" onClick={() => set([...entries, {}])}>
          <Icon name="plus" size={14} />
          {playground.addEntry}
          <span className="visually-hidden">: {label}</span>
        </button>
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
    </fieldset>
  );
}
