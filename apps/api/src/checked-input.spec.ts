import { IsOptional, IsString } from 'class-validator';
import { checked } from './checked-input.js';

class Sent {
  @IsOptional()
  @IsString()
  task_id?: string;

  @IsOptional()
  @IsString()
  status?: string;
}

describe('checked', () => {
  it.each(['a\0', '\ud83d', '\udeac'])('refuses texts that no database takes, by their field: %j', (text) => {
    const refusal = { code: 'invalid_parameter', param: 'status' };
    expect(() => checked(Sent, { task_id: 'task_😀', status: text })).toThrow(expect.objectContaining(refusal));
    expect(() => checked(Sent, { status: [{ deep: text }] })).toThrow(expect.objectContaining(refusal));
    expect(() => checked(Sent, { status: { [text]: 1 } })).toThrow(expect.objectContaining(refusal));
  });

  it('names every field that there is when one is unknown', () => {
    expect(() => checked(Sent, { id: 'task_1' })).toThrow('id is not a field of this request: task_id, status.');
  });
});
