/**
 * How many characters the texts of a parsed JSON value have, names of fields among them. Counts on until there are more than
 * `most`: a single text can be as long as a body, while its values are few.
 */
export function textCharactersIn(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let characters = 0;
  for (const [name, inner] of Object.entries(value)) {
    characters += (Array.isArray(value) ? 0 : name.length) + textCharactersIn(inner, most);
    if (characters > most) break;
  }
  return characters;
}
