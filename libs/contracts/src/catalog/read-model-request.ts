import { familiesAt, familyOf, MODEL_IDS } from './catalog.js';
import { GatewayError } from '../errors.js';
import { isJsonObject } from '../json.js';
import { alternatives, quote } from './field-check.js';
import type { ModelRequest, SubmissionPath } from './media-order.js';
import type { ModelFamily } from './model-family.js';
import { nearestNames } from '../nearest-name.js';
import { textModelElsewhere } from '../text-models.js';

/**
 * Checks the parsed body of a submission against the family of its model: every rule that can be checked without fetching a file.
 *
 * @throws GatewayError 400 that lists every wrong field; 404 when no model has the given name.
 */
export function readModelRequest(path: SubmissionPath, body: unknown): ModelRequest {
  if (!isJsonObject(body)) throw new GatewayError('invalid_json', 'The body must be a JSON object.');
  const model = body['model'] ?? onlyModelAt(path);
  const family = familyServing(path, model);
  return family.read(body['model'] === model ? body : { ...body, model });
}

/** `model` may be left out only on a path that serves a single model. */
function onlyModelAt(path: SubmissionPath): string {
  const models = familiesAt(path).flatMap((family) => family.models);
  const [only] = models;
  if (models.length === 1 && only !== undefined) return only;
  throw refuseModel('missing_parameter', `model is required: ${path} serves ${alternatives(models)}.`);
}

function familyServing(path: SubmissionPath, model: unknown): ModelFamily {
  if (typeof model !== 'string') throw refuseModel('invalid_parameter', `model must be a string, not ${quote(model)}.`);
  const family = familyOf(model);
  if (!family) throw refuseModel('model_not_found', unknownModel(path, model));
  if (family.path !== path)
    throw refuseModel('invalid_parameter', `model ${model} is not served by ${path}: send it to POST ${family.path}.`);
  return family;
}

function unknownModel(path: SubmissionPath, model: string): string {
  const elsewhere = textModelElsewhere(model);
  if (elsewhere) return elsewhere;
  const near = nearestNames(model, MODEL_IDS, 3);
  const advice = near.length > 0 ? `Did you mean ${alternatives(near)}?` : `${path} serves ${served(path)}.`;
  return `model ${quote(model)} does not exist. ${advice}`;
}

const served = (path: SubmissionPath) => alternatives(familiesAt(path).flatMap((family) => family.models));

const refuseModel = (code: 'missing_parameter' | 'invalid_parameter' | 'model_not_found', message: string) =>
  GatewayError.fromFields([{ param: 'model', code, message }]);
