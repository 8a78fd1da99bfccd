import type { ConsoleApi } from '#contracts';

type Item<Route extends keyof ConsoleApi> = ConsoleApi[Route]['answer'] extends {
  readonly items: readonly (infer Each)[];
}
  ? Each
  : never;
type AnswerOf<Route extends keyof ConsoleApi> = ConsoleApi[Route]['answer'];

/** What the pages show, each as its route answers it. */
export type ConsoleSession = AnswerOf<'GET /session'>;
export type SignInMethods = AnswerOf<'GET /sign-in'>;
export type InvitationPreview = AnswerOf<'POST /sign-in/invitation/preview'>;
export type ConsoleOverview = AnswerOf<'GET /overview'>;
export type ConsoleKey = Item<'GET /keys'>;
export type ConsoleKeySettings = ConsoleApi['POST /keys']['body'];
export type ConsoleModel = Item<'GET /models'>;
export type ModelField = ConsoleModel['fields'][number];
export type ConsolePrice = ConsoleModel['prices'][number];
export type QuoteAnswer = AnswerOf<'POST /quote'>;
export type ConsoleProblem = QuoteAnswer['problems'][number];
export type JsonObject = ConsoleApi['POST /runs']['body'];
export type JsonValue = JsonObject[string];
export type ConsoleTask = Item<'GET /tasks'>;
export type ConsoleFile = ConsoleTask['files'][number];
export type ConsoleTaskDetails = AnswerOf<'GET /tasks/:task_id'>;
export type ConsoleUsage = AnswerOf<'GET /usage'>;
export type ConsoleUsageSum = ConsoleUsage['items'][number];
export type ConsoleUsageRecord = Item<'GET /usage/records'>;
export type ConsoleChargeLine = ConsoleUsageRecord['lines'][number];
export type ConsoleBalance = AnswerOf<'GET /billing'>;
export type ConsoleSpendLimit = ConsoleBalance['limits'][number];
export type ConsoleEntry = Item<'GET /billing/entries'>;
export type ConsoleEntryExplained = AnswerOf<'GET /billing/entries/:entry_id'>;
export type ConsoleWebhookEndpoint = Item<'GET /webhooks/endpoints'>;
export type ConsoleDelivery = Item<'GET /webhooks/deliveries'>;
export type ConsolePeople = AnswerOf<'GET /people'>;
export type ConsolePerson = ConsolePeople['people'][number];
export type AdminAccount = Item<'GET /admin/accounts'>;
export type AdminPrice = Item<'GET /admin/prices'>;
export type AdminPricePreview = AnswerOf<'POST /admin/prices/preview'>;
export type AdminUpstream = Item<'GET /admin/upstreams'>;
export type AdminTask = Item<'GET /admin/tasks'>;
export type AdminReconciliation = Item<'GET /admin/reconciliations'>;
export type AdminMargins = AnswerOf<'GET /admin/margins'>;
export type AdminMargin = AdminMargins['items'][number];
export type AdminAuditRecord = Item<'GET /admin/audit'>;
export type AdminPerson = Item<'GET /admin/people'>;
