import { TEXT_STYLES, type TextStyle } from '#contracts';
import type { KeyScope } from '#features';
import type { BodyKind } from './body-kinds.js';
import type { OperationText, RouteAccess } from './operation.js';

/** What a request is about: a closed list. The text styles also have errors of their own shape. */
export type RequestStyle =
  TextStyle | 'video' | 'image' | 'tasks' | 'account' | 'files' | 'callbacks' | 'admin' | 'ops' | 'console' | 'other';

const TEXT: ReadonlySet<string> = new Set(TEXT_STYLES);

/** Whether errors of a style have the shape of its vendor, instead of our own. */
export const isTextStyle = (style: RequestStyle): style is TextStyle => TEXT.has(style);

/**
 * What a handler spends. `task` makes a task, `text` pays for a reply: both count for their key and can carry an
 * Idempotency-Key. `free` costs nothing but is work: with a body it counts for its key if that has a limit, without one
 * for the share of its account. `always` counts for that share alone, so that a key over its limit can do it too.
 */
export type RouteCost = 'task' | 'text' | 'free' | 'always';

export interface ControllerFacts {
  /** Names the routes in metrics and traces, and decides the shape of errors and where a key is looked for. */
  readonly style: RequestStyle;
  /** `key` unless said. */
  readonly access?: RouteAccess;
  /** The scope that a key with scopes needs. Routes without one are closed to such keys. */
  readonly scope?: KeyScope;
  /** Whether pages of any origin may call. */
  readonly cors?: boolean;
}

export interface HandlerFacts extends Partial<ControllerFacts> {
  /**
   * How the OpenAPI document describes it: one operation for each path, in the order of the paths. Further paths are
   * spellings for client libraries and stay out of the document; `[]` leaves out the route.
   */
  readonly operation: OperationText | readonly OperationText[];
  /** What a body may hold; `fields` unless said. */
  readonly body?: BodyKind;
  /** Absent: neither counted nor limited. */
  readonly cost?: RouteCost;
  /** Whether a request is left out of the log: machines ask for it every few seconds. */
  readonly isQuiet?: boolean;
  /** `native`: the handler's own shape, or a stream. Otherwise its value is sent as `data` of the envelope. */
  readonly answer?: 'native';
}

/** What the middlewares know about a route before Nest calls it. */
export interface RouteFacts {
  readonly style: RequestStyle;
  readonly access: RouteAccess;
  readonly cors: boolean;
  readonly scope: KeyScope | undefined;
  readonly body: BodyKind;
  readonly cost: RouteCost | undefined;
  readonly isQuiet: boolean;
  /** The parameters that its description names for the address. */
  readonly query: ReadonlySet<string>;
}

export const CONTROLLER_FACTS = 'gateway:controller-facts';
export const HANDLER_FACTS = 'gateway:handler-facts';

/** The facts of a handler as they are there; undefined for a method that is no route. */
export const handlerFacts = (handler: Function): HandlerFacts | undefined =>
  Reflect.getMetadata(HANDLER_FACTS, handler) as HandlerFacts | undefined;

/** All facts of a route: its own before those of its controller. @throws TypeError: one of them does not say its own. */
export function routeFacts(controller: Function, handler: Function): RouteFacts {
  const general = Reflect.getMetadata(CONTROLLER_FACTS, controller) as ControllerFacts | undefined;
  const own = handlerFacts(handler);
  if (!general || !own) throw new TypeError(`${controller.name}.${handler.name} needs @Routes and @Route.`);
  const { style, access = 'key', scope, cors = false } = { ...general, ...own };
  const { body = 'fields', cost, isQuiet = false } = own;
  return { style, access, scope, cors, body, cost, isQuiet, query: queryOf([own.operation].flat()) };
}

const queryOf = (operations: readonly OperationText[]): ReadonlySet<string> =>
  new Set(
    operations
      .flatMap(({ parameters = [] }) => parameters)
      .flatMap(({ in: place, name }) => (place === 'query' && typeof name === 'string' ? [name] : [])),
  );

/** The facts of a path that no route has, beneath routes of a style. */
export const unknownPath = ({ style, cors = false }: Pick<ControllerFacts, 'style' | 'cors'>): RouteFacts => ({
  style,
  access: 'key',
  scope: undefined,
  cors,
  body: 'fields',
  cost: undefined,
  isQuiet: false,
  query: new Set(),
});
