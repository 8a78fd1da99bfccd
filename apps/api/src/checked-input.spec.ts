import { IsOptional, IsString } from 'class-validator';
import { checked } from './checked-input.js';
import { ListQuery } from './list-query.js';

class Sent {
  @IsOptional()
  @IsString()
  task_id?: string;

  @IsOptional()
  @IsString()
  status?: string;
}

describe('checked', () => {
  it.each(['a\0', '\ud83d', '\udeac'])('refuses texts that the database cannot store, naming the field: %j', (text) => {
    const refusal = { code: 'invalid_parameter', param: 'status' };
    expect(() => checked(Sent, { task_id: 'task_😀', status: text })).toThrow(expect.objectContaining(refusal));
    expect(() => checked(Sent, { status: [{ deep: text }] })).toThrow(expect.objectContaining(refusal));
    expect(() => checked(Sent, { status: { [text]: 1 } })).toThrow(expect.objectContaining(refusal));
  });

  it.each<[string, string]>([
    ['{"constructor":{"a":1}}', 'constructor'],
    ['{"__proto__":{"status":1}}', '__proto__'],
    ['{"toString":1}', 'toString'],
    ['{"status":{"constructor":1}}', 'status'],
    ['{"status":[{"deep":{"constructor":"x"}}]}', 'status'],
    ['{"status":{"__proto__":null}}', 'status'],
  ])('refuses a field named like what every object inherits, by name: %s', (body, param) => {
    const refusal = { code: 'unknown_parameter', param };
    expect(() => checked(Sent, JSON.parse(body))).toThrow(expect.objectContaining(refusal));
  });

  it('reads an optional field that is null as one that was left out', () => {
    expect(checked(Sent, { task_id: null, status: 'done' })).toEqual({ task_id: undefined, status: 'done' });
  });

  it('shows a wrong value as it was sent, and says that a text needs quotes', () => {
    expect(() => checked(ListQuery, { limit: 'abc' })).toThrow(
      'limit must be a whole number from 1 to 1000, not "abc".',
    );
    expect(() => checked(Sent, { status: 1.5 })).toThrow(/^status must be a .*, not 1\.5\. Send it in quotes\.$/);
  });

  it('lists all known fields when one is unknown', () => {
    expect(() => checked(Sent, { id: 'task_1' })).toThrow(
      'id is not a field of this request. Known fields: task_id, status.',
    );
  });
});
