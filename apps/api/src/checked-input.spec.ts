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
  it('names every field that there is when one is unknown', () => {
    expect(() => checked(Sent, { id: 'task_1' })).toThrow('id is not a field of this request: task_id, status.');
  });
});
