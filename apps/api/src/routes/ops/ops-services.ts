import type { INestApplicationContext, Type } from '@nestjs/common';
import {
  DeliverySearchService,
  FleetStateService,
  ModelsOnSale,
  ReadTaskService,
  ReconciliationService,
  TaskOverview,
  TaskRemediesService,
  TaskSearchService,
  TextUpstreams,
  TasksNeedingAttentionService,
  TextCircuits,
  TextUpstreamsService,
  WorkersService,
} from '#features';

/** The services that the operators' pages read from and act with. */
export interface OpsServices {
  readonly deliveries: DeliverySearchService;
  readonly fleet: FleetStateService;
  readonly circuits: TextCircuits;
  readonly onSale: ModelsOnSale;
  readonly overview: TaskOverview;
  readonly reading: ReadTaskService;
  readonly reconciliation: ReconciliationService;
  readonly remedies: TaskRemediesService;
  readonly search: TaskSearchService;
  readonly needingAttention: TasksNeedingAttentionService;
  readonly upstreams: TextUpstreamsService;
  readonly upstreamsInService: TextUpstreams;
  readonly workers: WorkersService;
}

/** Those that the API has built already: the pages and the admin API act through the same ones. */
export function opsServicesOf(app: INestApplicationContext): OpsServices {
  const get = <Service>(type: Type<Service>): Service => app.get(type, { strict: false });
  return {
    deliveries: get(DeliverySearchService),
    fleet: get(FleetStateService),
    circuits: get(TextCircuits),
    onSale: get(ModelsOnSale),
    overview: get(TaskOverview),
    reading: get(ReadTaskService),
    reconciliation: get(ReconciliationService),
    remedies: get(TaskRemediesService),
    search: get(TaskSearchService),
    needingAttention: get(TasksNeedingAttentionService),
    upstreams: get(TextUpstreamsService),
    upstreamsInService: get(TextUpstreams),
    workers: get(WorkersService),
  };
}
