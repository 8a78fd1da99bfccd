import { type ListedModel } from './listed-models.js';
import { ListNames } from './list-names.js';

const entry = (id: string, vendor?: string): ListedModel => ({
  id,
  vendor,
  prices: [],
  unread: [],
  isUnsure: false,
  movedBands: [],
});
const OPENAI = { settings: { base_url: 'https://api.openai.com/v1', models: { 'vendor-5': 'gpt-6.1' } } };
const MODELS = ['vendor-5', 'vendor-4-vision', 'gpt-6.1-mini'];

const namesOf = (list: readonly ListedModel[], saved: readonly (readonly [string, string | null])[] = []) => {
  const names = new ListNames(new Map(saved), MODELS, [OPENAI]);
  return names.of(list).map(({ listed, named, isOther }) => [listed.id, named?.model, named?.by, isOther]);
};

describe('The name of an entry of a list', () => {
  it('is what an operator said, then what an upstream of that vendor calls it, then our own id with any vendor', () => {
    expect(namesOf([entry('gpt-6.1', 'openai'), entry('someone/gpt-6.1-mini'), entry('strange')])).toEqual([
      ['gpt-6.1', 'vendor-5', 'vendor', false],
      ['someone/gpt-6.1-mini', 'gpt-6.1-mini', 'same', false],
      ['strange', undefined, undefined, false],
    ]);
    expect(
      namesOf(
        [entry('gpt-6.1', 'openai'), entry('strange')],
        [
          ['strange', 'vendor-4-vision'],
          ['gpt-6.1', null],
        ],
      ),
    ).toEqual([
      ['gpt-6.1', undefined, undefined, false],
      ['strange', 'vendor-4-vision', 'saved', false],
    ]);
  });

  it('is taken by one entry alone, the surest', () => {
    expect(namesOf([entry('azure/gpt-6.1', 'azure'), entry('openai/gpt-6.1', 'openai'), entry('x/vendor-5')])).toEqual([
      ['azure/gpt-6.1', 'vendor-5', 'renamed', true],
      ['openai/gpt-6.1', 'vendor-5', 'vendor', false],
      ['x/vendor-5', 'vendor-5', 'same', true],
    ]);
  });

  it('is suggested from those models that no entry is of', () => {
    const names = new ListNames(new Map(), MODELS, []);
    names.of([entry('vendor-5')]);
    expect(names.suggestions('acme/vendor-4.vision')).toEqual(['vendor-4-vision']);
    expect(names.suggestions('vendor-5')).toEqual([]);
  });
});
