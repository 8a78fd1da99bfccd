type Tree = string | ((...values: never[]) => unknown) | { readonly [name: string]: Tree };

/** Texts that are forty percent longer and recognisable: a test finds with them which sentences are not in the messages, and which layouts break. */
const lengthen = (text: string): string => `⟦${text}${'·'.repeat(Math.ceil(text.length * 0.4))}⟧`;

function change(tree: Tree): Tree {
  if (typeof tree === 'string') return lengthen(tree);
  if (typeof tree === 'function') {
    return (...values: never[]) => {
      const text = tree(...values);
      return typeof text === 'string' ? lengthen(text) : text;
    };
  }
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, change(value)]));
}

/** Words of an invented language, for tests. */
export const pseudo = <Words extends object>(words: Words): Words => change(words as Tree) as Words;
