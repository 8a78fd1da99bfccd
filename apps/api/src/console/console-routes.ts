import { applyDecorators, Get, HttpCode, Post } from '@nestjs/common';
import type { ConsoleApi } from '#contracts';
import { Route, Routes } from '../http/route.js';
import type { HandlerFacts } from '../http/route-facts.js';

/** What holds for every controller of the console. */
export const ConsoleRoutes = (): ClassDecorator => Routes({ style: 'console', access: 'session' });

type Facts = Omit<HandlerFacts, 'operation' | 'answer'>;
/** The path of a route of the contract, so that no other compiles. */
type PathOf<Method extends 'GET' | 'POST'> = keyof ConsoleApi extends infer Name
  ? Name extends `${Method} /${infer Path}`
    ? Path
    : never
  : never;

/** A route of the console that reads. It counts as work that costs nothing, for whoever is signed in. */
export const Reads = (path: PathOf<'GET'>, facts: Facts = {}): MethodDecorator =>
  applyDecorators(Get(path), Route({ cost: 'always', ...facts, operation: [], answer: 'native' }));

/** A route of the console that changes something. */
export const Writes = (path: PathOf<'POST'>, facts: Facts = {}): MethodDecorator =>
  applyDecorators(Post(path), Route({ ...facts, operation: [], answer: 'native' }), HttpCode(200));

/** What a route answers. */
export type Answer<Name extends keyof ConsoleApi> = Promise<ConsoleApi[Name]['answer']>;
