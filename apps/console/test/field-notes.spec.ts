import { CATALOG, fieldTable } from '#contracts';
import { fieldNotes } from '../src/messages/zh/field-notes.js';

describe('The notes of the fields in Chinese', () => {
  it('are there for every note of the catalogue, and for nothing else', () => {
    const notes = CATALOG.flatMap((family) => fieldTable(family).flatMap(({ note }) => (note === '' ? [] : [note])));
    expect(Object.keys(fieldNotes).toSorted()).toEqual([...new Set(notes)].toSorted());
  });
});
