/** A file as it came, stored but not visible yet. */
export interface ReceivedFile {
  readonly id: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The other fields of the form, in the order in which they came. */
  readonly fields: ReadonlyMap<string, string>;
}
