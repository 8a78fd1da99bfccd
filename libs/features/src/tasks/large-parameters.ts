import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { charactersLeft, type Database, endOfPiece, nextTurn, type StatementRunner, Turns } from '#platform';

/** Texts of more characters are kept beside the row of their task, in pieces. Only inline files are that long. */
const SHORT_CHARACTERS = 64 * 1024;

/** How much of a text one row holds, in characters. */
const PIECE_CHARACTERS = 512 * 1024;

/** What stands in the row in place of a long text. No field of a request may be an object of this form. */
const MARK = 'long_text';

const WRITE = `insert into task_long_text (task_id, nth, place, piece) values ($1, $2, $3, $4)`;

const READ = `select piece from task_long_text where task_id = $1 and nth = $2 order by place`;

const COPY = `
insert into task_long_text (task_id, nth, place, piece)
select $2, nth, place, piece from task_long_text where task_id = $1`;

/** Parameters without their large parameters, and these by their numbers. */
export interface ParametersApart {
  readonly parameters: JsonObject;
  readonly largeParameters: readonly string[];
}

/** Takes large texts out of parameters and leaves their numbers and lengths. */
export function withoutLargeParameters(parameters: JsonObject): ParametersApart {
  if (charactersLeft(parameters, SHORT_CHARACTERS) > 0) return { parameters, largeParameters: [] };
  const largeParameters: string[] = [];
  const without = mapped(parameters, (value) => {
    if (typeof value !== 'string' || value.length <= SHORT_CHARACTERS) return undefined;
    largeParameters.push(value);
    return { [MARK]: largeParameters.length - 1, characters: value.length };
  });
  return { parameters: largeParameters.length === 0 ? parameters : without, largeParameters };
}

/** Writes them a piece at a time, while other work runs in between. The row of the task must follow in the transaction. */
export async function writeLargeParameters(
  transaction: StatementRunner,
  taskId: string,
  largeParameters: readonly string[],
): Promise<void> {
  for (const [nth, text] of largeParameters.entries()) {
    let place = 0;
    for (let from = 0; from < text.length; place += 1) {
      const to = endOfPiece(text, from, PIECE_CHARACTERS);
      const values = [taskId, nth, place, Buffer.from(text.slice(from, to))];
      await transaction.query({ name: 'write_long_text', text: WRITE, values });
      from = to;
    }
  }
}

/** Gives a task that is sent again the long texts of the first. False: they are not kept any more. */
export async function copyLargeParameters(
  transaction: StatementRunner,
  { id, parameters }: { readonly id: string; readonly parameters: JsonObject },
  newTaskId: string,
): Promise<boolean> {
  if (numbersIn(parameters).length === 0) return true;
  const { rowCount } = await transaction.query({ text: COPY, values: [id, newTaskId] });
  return (rowCount ?? 0) > 0;
}

/** The parameters of a row with their large parameters back in their places. */
export async function withLargeParameters(
  database: Pick<Database, 'query'>,
  taskId: string,
  parameters: JsonObject,
): Promise<JsonObject> {
  const texts = new Map<JsonValue, string>();
  const numbers = numbersIn(parameters);
  const turns = new Turns();
  for (const nth of numbers) {
    const { rows } = await database.query<{ piece: string }>({
      name: 'read_long_text',
      text: READ,
      values: [taskId, nth],
    });
    texts.set(nth, rows.map(({ piece }) => piece).join(''));
    if (turns.isOver) await nextTurn(turns);
  }
  if (numbers.length === 0) return parameters;
  return mapped(parameters, (value) => (isJsonObject(value) ? texts.get(value[MARK] ?? null) : undefined));
}

/** Of the long texts that stand beside the row. */
function numbersIn(parameters: JsonObject): readonly JsonValue[] {
  const numbers: JsonValue[] = [];
  mapped(parameters, (value) => {
    const nth = isJsonObject(value) ? value[MARK] : undefined;
    if (nth !== undefined) numbers.push(nth);
    return undefined;
  });
  return numbers;
}

/** The same with some values replaced; undefined leaves a value as it is. */
function mapped(fields: JsonObject, replace: (value: JsonValue) => JsonValue | undefined): JsonObject {
  const map = (value: JsonValue): JsonValue => {
    const replaced = replace(value);
    if (replaced !== undefined) return replaced;
    if (Array.isArray(value)) return value.map((item: JsonValue) => map(item));
    return isJsonObject(value) ? mapped(value, replace) : value;
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value)]));
}
