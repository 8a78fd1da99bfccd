import { endOfString } from './json-structure.js';

interface JsonPart {
  /** The names and places that lead to it. */
  readonly path: readonly (string | number)[];
  readonly json: string;
}

interface Container {
  readonly isList: boolean;
  /** Of the value that is being passed. */
  key: string | number;
  start: number;
  hasKey: boolean;
}

const STRUCTURE = /["{}[\],]/g;

/**
 * The values of long JSON that stand so deep (1: those of the outermost list or object), in order, so that each can be parsed alone and
 * other work done in between. What stands less deep and is no list or object is passed over. What is no JSON may only be found when its
 * part is parsed.
 *
 * @throws SyntaxError where lists and objects do not close.
 */
export function* jsonValues(text: string, depth: number): Generator<JsonPart> {
  const structure = new RegExp(STRUCTURE);
  const around: Container[] = [];
  for (let match = structure.exec(text); match; match = structure.exec(text)) {
    const at = match.index;
    const [character] = match;
    const inner = around.at(-1);
    if (character === '"') {
      const end = endOfString(text, at + 1) + 1;
      if (inner && !inner.isList && !inner.hasKey && around.length <= depth) {
        inner.key = JSON.parse(text.slice(at, end)) as string;
        inner.start = text.indexOf(':', end) + 1;
        inner.hasKey = true;
        structure.lastIndex = inner.start;
      } else structure.lastIndex = end;
    } else if (character === '{' || character === '[')
      around.push({ isList: character === '[', key: 0, start: at + 1, hasKey: false });
    else if (!inner) throw new SyntaxError('there is more than one value');
    else {
      const json = around.length === depth ? text.slice(inner.start, at).trim() : '';
      if (json !== '' && (inner.isList || inner.hasKey)) yield { path: around.map(({ key }) => key), json };
      if (character !== ',') around.pop();
      else if (typeof inner.key === 'number' && inner.isList) inner.key += 1;
      inner.start = at + 1;
      inner.hasKey = false;
    }
  }
  if (around.length > 0) throw new SyntaxError('it is cut off');
}
