import { TroubledTasksService } from '#features';
import { Controller, Get } from '@nestjs/common';
import { viewOf } from '../row-view.js';

/** What operators should look at. */
@Controller('admin/v1/troubles')
export class TroublesController {
  constructor(private readonly tasks: TroubledTasksService) {}

  /** Tasks that were given up, orders no vendor has confirmed, and work at vendors that no task holds. */
  @Get()
  async list(): Promise<object> {
    return { code: 200, data: viewOf(await this.tasks.list()) };
  }
}
