import { envelopeSchema, operationsOf, schemaOf } from '../../http/operation.js';

export const MODEL_OPERATIONS = operationsOf('Models', {
  listModels: {
    summary: 'List models with their fields, rules and prices',
    answer: {
      type: 'object',
      required: ['code', 'object', 'data'],
      properties: {
        code: { const: 200 },
        object: { const: 'list' },
        data: { type: 'array', items: schemaOf('Model') },
        has_more: { type: 'boolean' },
        first_id: { type: ['string', 'null'] },
        last_id: { type: ['string', 'null'] },
      },
    },
  },
  listGoogleModels: {
    summary: 'List text models, content-generation style',
    answer: {
      type: 'object',
      required: ['code', 'data', 'models'],
      properties: {
        code: { const: 200 },
        data: { type: 'object', properties: { models: { type: 'array', items: { type: 'object' } } } },
        models: { type: 'array', items: { type: 'object' } },
      },
    },
  },
  readGoogleModel: {
    summary: 'Read a text model, content-generation style',
    path: { target: 'The identifier, exactly.' },
    answer: envelopeSchema({ type: 'object' }),
    errors: ['model_not_found'],
  },
  readModel: {
    summary: 'Read a model',
    answer: { allOf: [envelopeSchema(schemaOf('Model')), schemaOf('Model')] },
    errors: ['model_not_found'],
  },
});
