import { readFileSync } from 'node:fs';
import { mediaFieldsPage } from './media-fields-page.js';

describe('docs/media-fields.md', () => {
  const page = mediaFieldsPage();

  it('says of every model, field and protocol what is true now (npm run media-fields writes it)', () => {
    expect(readFileSync('docs/media-fields.md', 'utf8')).toBe(page);
  });

  it('has no field that is lost on its way', () => {
    expect(page).not.toContain('**lost**');
  });
});
