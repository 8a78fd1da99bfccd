import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { NotFoundException, StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { type BodyBudget, noRoomFor, OPERATORS } from './http/body-budget.js';
import { MatchedRoutes } from './http/matched-routes.js';
import { isKeptAlive } from './http/keep-alive.js';
import { SerializedBody } from './http/serialized-body.js';

/** How often connections are looked through for headers and bodies that are late, in milliseconds; Node's own is 30 s. */
const CHECK_CONNECTIONS_EVERY_MS = 2_000;

declare module 'express-serve-static-core' {
  interface Request {
    /** What went wrong before Express got the request. */
    failure?: unknown;
  }
}

/** What requests pass before their routes. */
export interface RequestSteps {
  /** Passed by every request. */
  readonly first: RequestHandler;
  /** Passed by those that no router of its own has taken. */
  readonly beforeRoute: RequestHandler;
  /** Bounds what is read and waits for its reader. */
  readonly budget: BodyBudget;
}

/**
 * Express beneath Nest, over a `node:http` server whose requests and answers are born with Express's prototypes.
 *
 * Express sets the prototype of each request and each answer. V8 gives every object whose prototype was changed a
 * shape of its own from the next property on, so that no access to any of them can be cached, neither ours nor Node's;
 * setting the prototype that an object already has costs nothing.
 */
export class ExpressServer extends ExpressAdapter {
  readonly #express: Express;
  readonly #routes = new MatchedRoutes();
  #hasRoutes = false;
  #steps: RequestSteps | undefined;

  /** @param trustedProxies whose `x-forwarded-for` is believed: addresses and networks, with commas between. */
  constructor(trustedProxies: string | undefined) {
    const app = configuredExpress(trustedProxies);
    super(app);
    this.#express = app;
  }

  /** Sends what a handler returned. What it has streamed is only ended. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (response.headersSent && !isKeptAlive(response)) return response.end();
    const answer = response.req.method === 'GET' ? asRead(body) : body;
    if (!(answer instanceof SerializedBody)) return super.reply(response, body, statusCode);
    if (answer !== body && statusCode !== undefined) response.status(statusCode);
    if (response.req.method === 'GET') this.#expectRoom(response, answer);
    return answer.sendWith(response);
  }

  /** A long list stays in memory until it is read, however slowly. What was paid for is sent whatever it takes. */
  #expectRoom(response: Response, { bytes }: SerializedBody): void {
    const accountId = response.req.caller?.accountId ?? OPERATORS;
    const whose = this.#steps?.budget.growForAnswer(response, accountId, bytes) ?? null;
    if (whose !== null && !response.destroyed) throw noRoomFor(whose);
  }

  override get = this.#registering('GET');
  override post = this.#registering('POST');
  override put = this.#registering('PUT');
  override patch = this.#registering('PATCH');
  override delete = this.#registering('DELETE');

  /** Takes the routes of a method. The first route of all says where they stand among the layers of Express. */
  #registering(method: string) {
    return (...[path, handler]: [handler: RequestHandler] | [path: string, handler: RequestHandler]): void => {
      if (typeof path !== 'string' || !handler) throw new TypeError(`A route for ${method} has no path.`);
      if (!this.#hasRoutes) this.#mountRoutes();
      this.#routes.add(method, path, handler);
    };
  }

  /**
   * Has requests pass these steps. `routers` stand between them, in Express. A request for a route of API keys goes straight to its
   * handler: Express's router, which takes it through all its layers, costs more than the steps themselves.
   */
  useSteps(steps: RequestSteps, routers: readonly (readonly [path: string, router: RequestHandler])[]): void {
    this.#steps = steps;
    this.use((request: Request, _response: Response, next: (failure: unknown) => void) => next(request.failure));
    for (const [path, router] of routers) this.use(path, router);
    this.use(steps.beforeRoute);
  }

  #receive(request: Request, response: Response): void {
    const leaveToExpress = (failure?: unknown): void => {
      request.failure = failure;
      this.#express(request, response);
    };
    if (!this.#steps) return leaveToExpress();
    const { first, beforeRoute } = this.#steps;
    // Read when the client has left before a route was called.
    request.params = NO_PARAMETERS;
    void first(request, response, (refusal?: unknown) => {
      if (refusal !== undefined || !isForKeys(request)) return leaveToExpress(refusal);
      request.res = response;
      void beforeRoute(request, response, (failure?: unknown) => {
        if (failure !== undefined) return leaveToExpress(failure);
        const working = this.#routes.dispatch(request, response, () => leaveToExpress(new NotFoundException()));
        if (working instanceof Promise) working.catch(leaveToExpress);
      });
    });
  }

  /** Every route that it answers: Nest's, and any that was given to Express itself. */
  routes(): (readonly [method: string, pattern: string])[] {
    const others = this.#express.router.stack.flatMap(({ route }) =>
      (route?.stack ?? []).map(({ method }) => [method.toUpperCase(), route?.path ?? ''] as const),
    );
    return [...this.#routes.list(), ...others];
  }

  #mountRoutes(): void {
    this.#hasRoutes = true;
    this.use(this.#routes.dispatch);
  }

  override initHttpServer(): void {
    this.setHttpServer(
      createServer(
        { ...withExpressPrototypes(this.#express), connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY_MS },
        (request, response) => this.#receive(request as Request, response as Response),
      ),
    );
  }
}

/** What is read as JSON, as it is sent. */
const asRead = (body: unknown): unknown =>
  typeof body !== 'object' || body === null || body instanceof SerializedBody || body instanceof StreamableFile
    ? body
    : SerializedBody.json(body);

const NO_PARAMETERS: Request['params'] = Object.freeze({});

/** No router of operators or of the console stands in front of these. */
const isForKeys = ({ match }: Request): boolean => match.pattern !== undefined && match.facts.access === 'key';

function configuredExpress(trustedProxies: string | undefined): Express {
  const app = express();
  app.disable('x-powered-by');
  if (trustedProxies !== undefined) app.set('trust proxy', trustedProxies);
  // Answers are read once or change from poll to poll: hashing each for an ETag costs more than it saves.
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.enable('case sensitive routing');
  return app;
}

/** The classes that `node:http` makes instances of; their prototypes become those that `app` sets. */
function withExpressPrototypes(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
