import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { EnvelopeInterceptor } from './envelope.interceptor.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { type ControllerFacts, type HandlerFacts, noteControllerFacts, noteHandlerFacts } from './route-facts.js';

/** Says what holds for all routes of a controller. */
export const Routes = (facts: ControllerFacts): ClassDecorator => noteControllerFacts(facts);

/**
 * Says what holds for a route, and has it held: body limit, JSON bounds, CORS, the shape of errors, metrics, limits, the
 * envelope and the OpenAPI document all read it here. The path stands beside it, in Nest's own decorator.
 */
export function Route(facts: HandlerFacts): MethodDecorator {
  const { cost, answer } = facts;
  const decorators: MethodDecorator[] = [noteHandlerFacts(facts)];
  if (cost) decorators.push(UseGuards(RateLimitGuard));
  if (answer !== 'native') decorators.push(UseInterceptors(EnvelopeInterceptor));
  return applyDecorators(...decorators);
}
