import { type ErrorCode, GatewayError } from '../errors.js';
import { compileTable, FieldErrors, type UncheckedObject } from './field-check.js';
import { type Field, type FieldTableClass, fieldsOf } from './field.js';
import type { JsonObject } from '../json.js';
import type {
  Billing,
  MediaReference,
  Medium,
  ModelRequest,
  OutputPlan,
  SubmissionPath,
  TotalSecondsLimit,
} from './media-order.js';

/** A rule over several fields. It judges what was sent: defaults are not filled in yet. */
export interface Rule<Request> {
  /** The field the caller should change. */
  readonly param: string;
  /** Names the field, the rule and what is allowed. */
  readonly message: string;
  readonly code: ErrorCode;
  readonly breaks: (sent: Partial<Request>) => boolean;
}

/** Refuses a request for a value that does not go with the rest of it. */
export const refuse = <Request>(
  param: string,
  message: string,
  breaks: (sent: Partial<Request>) => boolean,
): Rule<Request> => ({ param, message, code: 'invalid_parameter', breaks });

/** Refuses a request that lacks a field its other fields make necessary. */
export const need = <Request>(
  param: string,
  message: string,
  breaks: (sent: Partial<Request>) => boolean,
): Rule<Request> => ({ param, message, code: 'missing_parameter', breaks });

/** A notice to the caller of a request that is accepted nevertheless. */
export interface Notice<Request> {
  readonly message: string;
  /** A field that is left out of the order because the document says that it is ignored here. */
  readonly drops?: keyof Request & string;
  readonly applies: (sent: Partial<Request>) => boolean;
}

/** Which variants each model of a family is sold in. */
export type Variants<Model extends string> = Readonly<Record<Model, readonly string[]>>;

/** What a family file states about its models. Functions of `order` see the request with its defaults. */
export interface FamilyDefinition<
  Request extends { model: string },
  Mode extends string,
  Sold extends Variants<Request['model']>,
> {
  readonly id: string;
  /** What the models are for, in one sentence. */
  readonly summary: string;
  /** A body that the family accepts, shown to readers of the schema. */
  readonly example: JsonObject;
  readonly medium: Medium;
  /** That of the medium unless it is given. */
  readonly path?: SubmissionPath;
  readonly modes: readonly Mode[];
  /** How a request is routed by what it holds. */
  readonly mode: (sent: Partial<Request>) => NoInfer<Mode>;
  readonly rules?: readonly Rule<NoInfer<Request>>[];
  readonly notices?: readonly Notice<NoInfer<Request>>[];
  /** Values the document sets by itself, after defaults. */
  readonly sets?: (order: NoInfer<Request>) => Partial<Request>;
  /** Every file the order points at, with what it must be. */
  readonly references: (order: NoInfer<Request>) => readonly MediaReference[];
  readonly totalSeconds?: (order: NoInfer<Request>) => readonly TotalSecondsLimit[];
  readonly output: (order: NoInfer<Request>) => OutputPlan;
  /** What prices are for: a second of video or an image, unless it is given. */
  readonly unit?: Billing['unit'];
  /** The models of the family, and what each is sold in. */
  readonly variants: Sold;
  readonly billing: (
    order: NoInfer<Request>,
  ) => { readonly variant: NoInfer<Sold>[Request['model']][number] } & Omit<Billing, 'unit' | 'variant'>;
  /** How long result links live, in seconds; they do not expire unless it is given. */
  readonly resultTtlSeconds?: number;
}

/** What families of a medium have in common. Deadline: how long a task may take before it fails and its hold is released. */
const OF_MEDIUM = {
  video: { path: '/v1/videos/generations', unit: 'second', deadlineSeconds: 3_600 },
  image: { path: '/v1/images/generations', unit: 'image', deadlineSeconds: 600 },
} as const;

/** A family as the rest of the code sees it. Parameters are those of a ModelRequest of the same family. */
export interface ModelFamily<Model extends string = string, Sold extends Variants<Model> = Variants<Model>> {
  readonly id: string;
  readonly summary: string;
  readonly example: JsonObject;
  readonly medium: Medium;
  readonly path: SubmissionPath;
  readonly models: readonly Model[];
  readonly modes: readonly string[];
  readonly table: FieldTableClass;
  readonly fields: readonly Field[];
  /** The refusals in words, in the order in which they are applied. */
  readonly rules: readonly { readonly param: string; readonly message: string }[];
  readonly unit: Billing['unit'];
  readonly variants: Sold;
  readonly resultTtlSeconds: number | null;
  readonly deadlineSeconds: number;

  /**
   * Checks a body whose `model` is one of this family's.
   *
   * @throws GatewayError 400 that lists every wrong field.
   */
  read(body: UncheckedObject): ModelRequest;
  references(parameters: JsonObject): readonly MediaReference[];
  totalSeconds(parameters: JsonObject): readonly TotalSecondsLimit[];
  output(parameters: JsonObject): OutputPlan;
  billing(parameters: JsonObject): Billing;
}

/**
 * Binds a field table to its rules and to what follows from an accepted request.
 * The checks are compiled here, once.
 */
export function defineFamily<
  Request extends { model: string },
  const Mode extends string,
  const Sold extends Variants<Request['model']>,
>(table: new () => Request, definition: FamilyDefinition<Request, Mode, Sold>): ModelFamily<Request['model'], Sold> {
  const { id, summary, example, medium, modes, rules = [], variants, resultTtlSeconds = null } = definition;
  const { path, unit, deadlineSeconds } = { ...OF_MEDIUM[medium], ...definition };
  const models: Request['model'][] = Object.keys(variants);
  // A checked parameter object has exactly the fields of the table.
  const order = (parameters: JsonObject) => parameters as JsonObject & Request;
  return {
    id,
    summary,
    example,
    medium,
    path,
    models,
    modes,
    table,
    unit,
    variants,
    resultTtlSeconds,
    deadlineSeconds,
    fields: fieldsOf(table),
    rules: rules.map(({ param, message }) => ({ param, message })),
    read: reader(table, definition, path, models),
    references: (parameters) => definition.references(order(parameters)),
    totalSeconds: (parameters) => definition.totalSeconds?.(order(parameters)) ?? [],
    output: (parameters) => definition.output(order(parameters)),
    billing: (parameters) => ({ unit, ...definition.billing(order(parameters)) }),
  };
}

function reader<Request extends { model: string }, Mode extends string, Sold extends Variants<Request['model']>>(
  table: new () => Request,
  definition: FamilyDefinition<Request, Mode, Sold>,
  path: SubmissionPath,
  models: readonly string[],
) {
  const { id, medium, rules = [], notices = [], sets } = definition;
  const whole = compileTable(table);
  const tables = new Map<unknown, typeof whole>(models.map((model) => [model, compileTable(table, model)]));

  return (body: UncheckedObject): ModelRequest => {
    const { check, fill } = tables.get(body['model']) ?? whole;
    const errors = new FieldErrors();
    const { sent, broken } = check(body, '', errors);
    const request = sent as JsonObject & Partial<Request>;
    for (const rule of rules) if (isBroken(rule, request, broken)) errors.add(rule.param, rule.message, rule.code);
    const [first, ...others] = errors.list;
    if (first) throw GatewayError.fromFields([first, ...others]);

    const mode = definition.mode(request);
    const applying = notices.filter((notice) => notice.applies(request));
    const filled: Record<string, JsonObject[string]> = { ...fill(sent, mode) };
    for (const { drops } of applying) if (drops) delete filled[drops];
    const parameters = sets ? { ...filled, ...(sets(filled as JsonObject & Request) as JsonObject) } : filled;
    const model = sent['model'] as string;
    return { model, family: id, medium, path, mode, parameters, notices: applying.map(({ message }) => message) };
  };
}

/** Applies a rule; a rule that reads an invalid field is skipped: it would judge an invalid value. */
function isBroken<Sent extends object>(
  rule: { readonly breaks: (sent: Sent) => boolean },
  sent: Sent,
  wrongFields: ReadonlySet<string>,
): boolean {
  if (wrongFields.size === 0) return rule.breaks(sent);
  let looksAtWrongField = false;
  const watched = new Proxy(sent, {
    get(target, name) {
      if (typeof name === 'string' && wrongFields.has(name)) looksAtWrongField = true;
      return Reflect.get(target, name) as unknown;
    },
  });
  return rule.breaks(watched) && !looksAtWrongField;
}
