import { CONTENT_TYPES, type MeasuredReference, MediaFailure, type MediaOrder, type VendorCall } from '#contracts';
import { type FileAddress, NotMakeable, type PlannedReference, type ReferenceForm } from './media-codec.js';

type FormOf = (reference: PlannedReference) => ReferenceForm;

/** What stands for the files of an order that is only planned: the caller's own sources. */
export function addressAtPlan(references: readonly PlannedReference[], formOf: FormOf, canLink: boolean): FileAddress {
  const sources = new Map(references.map((reference) => [reference.param, reference]));
  return (param) => {
    const reference = known(sources, param);
    const inline = reference.source.startsWith('data:');
    if (inline && formOf(reference) === 'url' && !canLink)
      throw new NotMakeable(param, `${param} must be a public http(s) URL for this model.`);
    return reference.source;
  };
}

/**
 * The files of an order, each in the form that its vendor takes; all are there before anything is sent.
 *
 * @throws MediaFailure `refused`: one cannot be read any more, which says nothing about the vendor.
 */
export async function handedFiles(
  order: MediaOrder,
  { files, signal }: VendorCall,
  formOf: FormOf,
): Promise<FileAddress> {
  const handed = new Map<string, string>();
  for (const reference of order.references) {
    const form = formOf(reference);
    const found = files.get(reference.param);
    const file = await inForm(reference, found, form).catch((error: unknown) => {
      throw signal.aborted || error instanceof MediaFailure ? error : unreadable(reference, error);
    });
    handed.set(reference.param, file);
  }
  return (param) => known(handed, param);
}

const unreadable = ({ param: reference }: MeasuredReference, cause: unknown): MediaFailure =>
  new MediaFailure('refused', 'reference_unusable', { reference, cause });

async function inForm(
  reference: MeasuredReference,
  file: ReturnType<VendorCall['files']['get']>,
  form: ReferenceForm,
): Promise<string> {
  if (form === 'source') return reference.source;
  const isLink = !reference.source.startsWith('data:') && file.isOursAlone !== true;
  if (form === 'url' || (form === 'sent' && isLink)) return file.url();
  const digits = (await file.bytes()).toString('base64');
  return form === 'base64' ? digits : `data:${CONTENT_TYPES[reference.format]};base64,${digits}`;
}

function known<Value>(values: ReadonlyMap<string, Value>, param: string): Value {
  const value = values.get(param);
  if (value === undefined) throw new RangeError(`the order refers to no file at ${param}`);
  return value;
}
