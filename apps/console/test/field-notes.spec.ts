import { CATALOG, fieldTable } from '#contracts';
import { fieldNotes } from '../src/messages/zh/field-notes.js';
import { fieldValues } from '../src/messages/zh/field-values.js';
import { modelRules } from '../src/messages/zh/model-rules.js';
import { modelSummaries } from '../src/messages/zh/model-summaries.js';

describe('The words of the catalogue in Chinese', () => {
  it('are there for every note of the catalogue, and for nothing else', () => {
    const notes = CATALOG.flatMap((family) => fieldTable(family).flatMap(({ note }) => (note === '' ? [] : [note])));
    expect(Object.keys(fieldNotes).toSorted()).toEqual([...new Set(notes)].toSorted());
  });

  it('are there for every rule of the catalogue, and for nothing else', () => {
    const rules = CATALOG.flatMap((family) => family.rules.map(({ message }) => message));
    expect(Object.keys(modelRules).toSorted()).toEqual([...new Set(rules)].toSorted());
  });

  it('are there for the types and the values of all fields', () => {
    const said = CATALOG.flatMap((family) => fieldTable(family).flatMap(({ type, allowed }) => [type, allowed]));
    // Values themselves are no words of a sentence.
    const english = said
      .map(fieldValues)
      .filter((text) => /(^| )(a|or|of|each|to|most|exactly|entries|begins|public)( |$)/.test(text));
    expect(english).toEqual([]);
    expect(new Set(said.map(fieldValues)).size).toBe(new Set(said).size);
  });

  it('are there for what is said of every model of the catalogue', () => {
    const missing = CATALOG.map(({ summary }) => summary).filter((summary) => !Object.hasOwn(modelSummaries, summary));
    expect(missing).toEqual([]);
  });
});
