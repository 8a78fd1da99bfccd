/** What fields take, as the catalogue says it in English: a spec tries all of it. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^the fields below$/, '下列字段'],
  [/^at most (\d+) characters$/, '最多 $1 个字符'],
  [/exactly (\d+) entr(?:y|ies)/, '恰好 $1 项'],
  [/(\d+) to (\d+) entries/, '$1 至 $2 项'],
  [/^(-?\d+) to (-?\d+)$/, '$1 至 $2'],
  [/, each a /, '，每项为 '],
  [/a? ?public http\(s\) URL/, '公开的 http(s) 链接'],
  [/a? ?public https URL/, '公开的 https 链接'],
  [/ or a data URI that begins with /, '，或以此开头的 data URI：'],
  [/^array of strings$/, '字符串数组'],
  [/^array of objects$/, '对象数组'],
  [/^string$/, '字符串'],
  [/^integer$/, '整数'],
  [/^boolean$/, '布尔值'],
  [/^object$/, '对象'],
  [/ or /g, ' 或 '],
];

export const fieldValues = (english: string): string =>
  WORDS.reduce((text, [pattern, words]) => text.replace(pattern, words), english);
