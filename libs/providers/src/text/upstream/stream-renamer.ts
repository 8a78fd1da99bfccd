/** JSON of a text as it stands in bytes that are read as Latin-1, one character a byte. */
const asBytes = (text: string): string => Buffer.from(JSON.stringify(text)).toString('latin1');

/**
 * Shows the caller of a stream the model's name that it knows, in each event that holds the upstream's name. All else
 * stays byte for byte: the bytes are read and written as Latin-1, which loses none and is far quicker than UTF-8.
 */
export function streamRenamer({
  model,
  upstreamModel,
}: {
  readonly model: string;
  readonly upstreamModel: string;
}): (events: Buffer) => Buffer {
  if (model === upstreamModel) return (events) => events;
  const [hidden, shown] = [asBytes(upstreamModel), asBytes(model)];
  const escaped = hidden.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const named = new RegExp(String.raw`"model(?:Version)?"\s*:\s*${escaped}`, 'g');
  return (events) => {
    const text = events.toString('latin1');
    let renamed = '';
    let copied = 0;
    // A loop: `replace` takes twice as long, once a token.
    while (named.test(text)) {
      renamed += text.slice(copied, named.lastIndex - hidden.length) + shown;
      copied = named.lastIndex;
    }
    return copied === 0 ? events : Buffer.from(renamed + text.slice(copied), 'latin1');
  };
}
