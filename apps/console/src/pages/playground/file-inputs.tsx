import { useState } from 'react';
import type { JsonObject, JsonValue, ModelField } from '../../api/types';
import { useChange } from '../../api/queries';
import { Field } from '../../components/fields';
import { useFailureText } from '../../components/states';
import { Icon } from '../../components/icons';
import { useMessages } from '../../messages/language';
import { textOf } from './form-values';

interface FileInputsProps {
  readonly field: ModelField;
  readonly label: string;
  readonly note: string | undefined;
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue | undefined) => void;
  readonly error?: string | undefined;
}

/** How a schema writes the types of images that may be in the request itself. */
const INLINE_TYPES = /data:image\/\(([^)]+)\)/;

const isInline = (url: string): boolean => url.startsWith('data:');

/** Links to files, one a line, and where the model takes them files of this machine, which then stand in the request. */
export function FileInputs({ field, label, note, value, onChange, error }: FileInputsProps) {
  const { playground } = useMessages();
  const { schema } = field;
  const isList = schema['type'] === 'array';
  const most = isList && typeof schema['maxItems'] === 'number' ? schema['maxItems'] : 1;
  const types = inlineTypes((isList ? schema['items'] : schema) as JsonObject | undefined);
  const urls = typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(textOf) : [];
  const links = urls.filter((url) => !isInline(url));
  const files = urls.filter(isInline);
  const set = (next: readonly string[]) => onChange(next.length === 0 ? undefined : isList ? [...next] : next[0]);
  const add = (file: string) => set(most === 1 ? [file] : [...links.filter(Boolean), ...files, file]);
  const addLink = (link: string) => set(most === 1 ? [link] : [...links.filter(Boolean), link, ...files]);
  const hint = types.length > 0 ? playground.urlsHint(most) : playground.uploadsHint(most);
  return (
    <Field label={label} hint={[note, hint].filter(Boolean).join(' ')} error={error}>
      {(control) => (
        <>
          {most > 1 ? (
            <textarea
              {...control}
              rows={2}
              value={links.join('\n')}
              onChange={(event) => set([...splitLines(event.target.value), ...files])}
            />
          ) : (
            <input
              {...control}
              type="text"
              inputMode="url"
              value={links[0] ?? ''}
              onChange={(event) => set(event.target.value === '' ? [] : [event.target.value])}
            />
          )}
          <InlineFiles files={files} onRemove={(file) => set(urls.filter((url) => url !== file))} />
          {types.length > 0 ? (
            <FilePicker types={types} onPicked={add} />
          ) : (
            <Uploader types={linkedTypes(field.name)} onUploaded={addLink} />
          )}
        </>
      )}
    </Field>
  );
}

function inlineTypes(schema: JsonObject | undefined): readonly string[] {
  const pattern = schema?.['pattern'];
  const types = typeof pattern === 'string' ? INLINE_TYPES.exec(pattern)?.[1] : undefined;
  return (types?.split('|') ?? []).map((type) => `image/${type}`);
}

/** Lines as they are typed: an empty last one is kept, so that the next link can be begun. */
const splitLines = (text: string): string[] => (text === '' ? [] : text.split('\n').map((line) => line.trim()));

interface InlineFilesProps {
  readonly files: readonly string[];
  readonly onRemove: (file: string) => void;
}

/** The files that stand in the request, small, each with a way to take it out again. */
function InlineFiles({ files, onRemove }: InlineFilesProps) {
  const { common } = useMessages();
  return files.map((file, index) => (
    <span key={file.slice(-80)} className="inline-file">
      <img src={file} alt="" />
      <button type="button" className="button small" onClick={() => onRemove(file)}>
        {common.remove} {index + 1}
      </button>
    </span>
  ));
}

/** What a field takes by its name; all kinds where that does not tell. */
function linkedTypes(name: string): readonly string[] {
  const kinds = ['image', 'video', 'audio'].filter((kind) => name.includes(kind));
  return (kinds.length > 0 ? kinds : ['image', 'video', 'audio']).map((kind) => `${kind}/*`);
}

interface UploaderProps {
  readonly types: readonly string[];
  readonly onUploaded: (url: string) => void;
}

/** Puts a file of this machine at a link, for models that take links alone. */
function Uploader({ types, onUploaded }: UploaderProps) {
  const { playground } = useMessages();
  const failureText = useFailureText();
  const upload = useChange('POST /uploads');
  const pick = async (file: File): Promise<void> => {
    const data = (await readDataUrl(file)).replace(/^[^,]*,/, '');
    const { url } = await upload.mutateAsync({ body: { content_type: file.type, data } });
    onUploaded(url);
  };
  return (
    <>
      <FileButton
        types={types}
        label={upload.isPending ? playground.uploading : playground.addFile}
        onFile={(file) => void pick(file).catch(() => undefined)}
      />
      {upload.error && (
        <p className="field-error" role="alert">
          {failureText(upload.error)}
        </p>
      )}
    </>
  );
}

interface FileButtonProps {
  readonly types: readonly string[];
  readonly label: string;
  readonly onFile: (file: File) => void;
}

function FileButton({ types, label, onFile }: FileButtonProps) {
  return (
    <label className="button small upload">
      <Icon name="plus" size={14} />
      {label}
      <input
        type="file"
        className="visually-hidden"
        accept={types.join(',')}
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = '';
          if (file) onFile(file);
        }}
      />
    </label>
  );
}

interface FilePickerProps {
  readonly types: readonly string[];
  readonly onPicked: (url: string) => void;
}

function FilePicker({ types, onPicked }: FilePickerProps) {
  const { playground } = useMessages();
  const [isUnreadable, setUnreadable] = useState(false);
  const pick = (file: File) =>
    readDataUrl(file).then(
      (url) => {
        setUnreadable(false);
        onPicked(url);
      },
      () => setUnreadable(true),
    );
  return (
    <>
      <FileButton types={types} label={playground.addFile} onFile={(file) => void pick(file)} />
      {isUnreadable && (
        <p className="field-error" role="alert">
          {playground.unreadableFile}
        </p>
      )}
    </>
  );
}

const readDataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file could not be read')));
    reader.readAsDataURL(file);
  });
