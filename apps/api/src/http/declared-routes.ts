import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner } from '@nestjs/core';
import type { OperationText } from './operation.js';
import { handlerFacts, type RouteFacts, routeFacts } from './route-facts.js';

export interface DeclaredRoute {
  readonly method: string;
  /** As the router has it: `/v1/tasks/:task_id`. */
  readonly path: string;
  readonly facts: RouteFacts;
  /** Its description; undefined when it is left out of the OpenAPI document. */
  readonly operation: OperationText | undefined;
}

/** The routes of the API, for code that documents or finds them. */
export const DECLARED_ROUTES = Symbol('DECLARED_ROUTES');

/**
 * Every route of these controllers, in their order, with its facts.
 *
 * @throws TypeError: a handler says nothing about its route.
 */
export function declaredRoutes(controllers: readonly Function[]): DeclaredRoute[] {
  const scanner = new MetadataScanner();
  return controllers.flatMap((controller) => {
    const prototype = controller.prototype as Record<string, Function>;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      return handler ? routesOf(controller, handler) : [];
    });
  });
}

/** A handler has one route for each of its paths below each path of its controller. */
function routesOf(controller: Function, handler: Function): DeclaredRoute[] {
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
  if (method === undefined) return [];
  const facts = routeFacts(controller, handler);
  const operations = [handlerFacts(handler)?.operation ?? []].flat();
  const paths = pathsOf(controller).flatMap((prefix) => pathsOf(handler).map((path) => joined(prefix, path)));
  return paths.map((path, index) => ({ method: RequestMethod[method], path, facts, operation: operations[index] }));
}

const pathsOf = (target: Function): string[] =>
  [(Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined) ?? ''].flat();

const joined = (...parts: readonly string[]): string =>
  `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;
