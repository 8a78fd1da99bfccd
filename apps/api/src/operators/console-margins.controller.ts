import { Query } from '@nestjs/common';
import type { AdminMargin, AdminMargins } from '#contracts';
import { type Margin, MARGIN_GROUPS, MarginsService } from '#features';
import { checked } from '../checked-input.js';
import { daysOf, groupsOf, MarginsQuery } from '../list-query.js';
import { type Answer, ConsoleRoute, ConsoleRoutes } from '../console/console-routes.js';
import { rowOf } from '../console/views.js';

/** What media tasks earned and what they cost, for operators. */
@ConsoleRoutes()
export class AdminMarginsController {
  constructor(private readonly margins: MarginsService) {}

  @ConsoleRoute('GET /admin/margins')
  async read(@Query() query: unknown): Answer<'GET /admin/margins'> {
    const asked = checked(MarginsQuery, query);
    const { from, to } = daysOf(asked, null);
    const rows = await this.margins.margins({ from, to }, groupsOf(asked.group_by, MARGIN_GROUPS));
    return { from, to, items: rows.map((row) => rowOf<AdminMargin>(row)), total: totalOf(rows) };
  }
}

/** Of all rows; without a margin while one of them has none. */
function totalOf(rows: readonly Margin[]): AdminMargins['total'] {
  const sum = (name: 'tasks' | 'completed_tasks' | 'tasks_without_cost' | 'earned_micros' | 'cost_micros'): bigint =>
    rows.reduce((total, row) => total + row[name], 0n);
  const [earned, cost, without] = [sum('earned_micros'), sum('cost_micros'), sum('tasks_without_cost')];
  return rowOf<AdminMargins['total']>({
    tasks: sum('tasks'),
    completed_tasks: sum('completed_tasks'),
    tasks_without_cost: without,
    earned_micros: earned,
    cost_micros: cost,
    margin_micros: without === 0n ? earned - cost : null,
  });
}
