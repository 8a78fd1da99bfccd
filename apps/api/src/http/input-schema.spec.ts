import { IsOptional } from 'class-validator';
import { KeyChange, NewKeyBody } from '../key.dto.js';
import { IfGiven, IsAmountLimit, IsMoment, IsShownText, IsWhole, IsWholeLimit } from '../input-fields.js';
import { Described, schemaOfInput } from './input-schema.js';

class Body {
  @Described('What it is called.') @IsShownText(200) name!: string;
  @IfGiven() @IsWhole(-1, 1) priority?: number;
  @IsOptional() @IsMoment() until?: string;
  @IsWholeLimit(10) requests?: number | null;
  @IsAmountLimit() quota?: string | null;
  @IsWhole(1, 5) days = 3;
}

describe('The schema of a body', () => {
  it('says what the checks of its class let in', () => {
    expect(schemaOfInput(Body)).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 200, description: 'What it is called.' },
        priority: { type: 'integer', minimum: -1, maximum: 1 },
        until: { type: 'string', format: 'date-time' },
        requests: { type: ['integer', 'null'], minimum: 1, maximum: 10, description: 'Null: no limit.' },
        quota: { type: ['string', 'null'], description: 'Decimal text; null: no limit.' },
        days: { type: 'integer', minimum: 1, maximum: 5, default: 3 },
      },
    });
  });

  it('requires the name of a new key, which a change of one may leave out', () => {
    expect(schemaOfInput(NewKeyBody)).toMatchObject({ required: ['name'] });
    expect(schemaOfInput(KeyChange)).not.toHaveProperty('required');
  });

  it('names every field of a key, its scopes and tags among them', () => {
    expect(Object.keys(schemaOfInput(KeyChange)['properties'] as object)).toEqual(
      expect.arrayContaining(['name', 'quota', 'allowed_models', 'allowed_addresses', 'scopes', 'tags', 'expires_at']),
    );
  });
});
