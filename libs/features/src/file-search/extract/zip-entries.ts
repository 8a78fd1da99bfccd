import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { broken, encrypted, isUnknownCipher, tooMuch, Unreadable } from './unreadable.js';

const ENTRIES_MAX = 20_000;

/** The most bytes that are unpacked of all that is read of one file: what a bomb would need. */
const UNPACKED_BYTES_MAX = 200 * 1024 * 1024;

const ENCRYPTED = 1;

/** The parts of an Office file, unpacked one at a time and within bounds. */
export class ZipEntries {
  #unpacked = 0;

  private constructor(
    private readonly zip: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  /** @throws Unreadable */
  static async open(bytes: Uint8Array): Promise<ZipEntries> {
    try {
      const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
        lazyEntries: true,
        autoClose: false,
      });
      const entries = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        if (entries.size >= ENTRIES_MAX) throw tooMuch(`more than ${ENTRIES_MAX} parts`);
        entries.set(entry.fileName, entry);
      }
      return new ZipEntries(zip, entries);
    } catch (error) {
      if (isUnknownCipher(error)) throw encrypted('The file');
      throw error instanceof Unreadable ? error : broken('a ZIP or an Office file');
    }
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** Names of one form, in the order of the first number in them. */
  named(form: RegExp): string[] {
    const numberIn = (name: string): number => Number(form.exec(name)?.[1] ?? 0);
    return [...this.entries.keys()].filter((name) => form.test(name)).sort((a, b) => numberIn(a) - numberIn(b));
  }

  /** Calls `take` for each piece of a part. @throws Unreadable */
  async read(name: string, take: (piece: string) => void): Promise<void> {
    const entry = this.entries.get(name);
    if (!entry) return;
    if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0) throw encrypted('The file');
    const decoder = new TextDecoder();
    for await (const chunk of await this.zip.openReadStreamPromise(entry)) {
      this.#unpacked += (chunk as Buffer).length;
      if (this.#unpacked > UNPACKED_BYTES_MAX) throw tooMuch(`more than ${UNPACKED_BYTES_MAX} bytes when unpacked`);
      take(decoder.decode(chunk as Buffer, { stream: true }));
    }
    take(decoder.decode());
  }
}
