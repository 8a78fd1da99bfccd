import type { DeclaredRoute } from './declared-routes.js';
import { type ControllerFacts, type RouteFacts, unknownPath } from './route-facts.js';

/** What is known of a request before Nest routes it. */
export interface RouteMatch {
  readonly facts: RouteFacts;
  /** The pattern of the route; undefined when there is none for path and method. */
  readonly pattern: string | undefined;
  /** The methods that the path has, when the method of the request is none of them; otherwise empty. */
  readonly otherMethods: readonly string[];
}

interface PathNode {
  readonly literals: Map<string, PathNode>;
  /** Any one segment. */
  parameter: PathNode | undefined;
  /** Any further segments. */
  rest: PathNode | undefined;
  /** What ends here, by method. */
  readonly routes: Map<string, RouteMatch>;
  /** What unknown paths below have in common with their neighbours. */
  below: RouteFacts | undefined;
}

const emptyNode = (): PathNode => ({
  literals: new Map(),
  parameter: undefined,
  rest: undefined,
  routes: new Map(),
  below: undefined,
});

const NO_METHODS: readonly string[] = [];

/** A path that is no route's, far from any. */
const ELSEWHERE = unknownPath({ style: 'other' });

/**
 * Finds the facts of a request's route before the router runs, because its body, its key and its limits come first.
 * Made once from the routes that the controllers declare. A look-up follows the path segment by segment through a tree,
 * allocates nothing for a known route, and takes no more steps than the tree has nodes, whatever the path.
 *
 * Paths are compared as Express does: case matters, a slash at the end does not, escaped characters are no literals.
 */
export class RouteIndex {
  private readonly root = emptyNode();

  constructor(routes: readonly DeclaredRoute[]) {
    for (const { method, path, facts } of routes) {
      const node = this.nodeAt(path);
      node.below ??= unknownPath(facts);
      const match = { facts, pattern: path, otherMethods: NO_METHODS };
      if (!node.routes.has(method)) node.routes.set(method, match);
      // Express answers HEAD by the handler of GET.
      if (method === 'GET' && !node.routes.has('HEAD')) node.routes.set('HEAD', match);
    }
  }

  /** Gives all paths below one that has a router of its own their facts. */
  addTree(path: string, facts: Pick<ControllerFacts, 'style' | 'cors'>): void {
    this.nodeAt(path).below = unknownPath(facts);
  }

  /** What is known of a request. */
  find(method: string, path: string): RouteMatch {
    const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
    return routeAt(this.root, method, path, 1, end) ?? this.miss(path, end);
  }

  private miss(path: string, end: number): RouteMatch {
    const methods = new Set<string>();
    const facts = collect(this.root, path, 1, end, methods);
    return { facts: facts ?? ELSEWHERE, pattern: undefined, otherMethods: [...methods].sort() };
  }

  private nodeAt(path: string): PathNode {
    return path.split('/').slice(1).reduce(childFor, this.root);
  }
}

function childFor(node: PathNode, segment: string): PathNode {
  if (segment.startsWith(':')) return (node.parameter ??= emptyNode());
  if (segment.startsWith('*')) return (node.rest ??= emptyNode());
  const child = node.literals.get(segment) ?? emptyNode();
  node.literals.set(segment, child);
  return child;
}

/** The route of a method at a path, of which the part from `from` to `end` is left. */
function routeAt(node: PathNode, method: string, path: string, from: number, end: number): RouteMatch | undefined {
  if (from > end) return node.routes.get(method);
  const slash = path.indexOf('/', from);
  const stop = slash === -1 || slash > end ? end : slash;
  if (stop > from) {
    const literal = node.literals.get(path.slice(from, stop));
    const found =
      (literal && routeAt(literal, method, path, stop + 1, end)) ??
      (node.parameter && routeAt(node.parameter, method, path, stop + 1, end));
    if (found) return found;
  }
  return from < end ? node.rest?.routes.get(method) : undefined;
}

/** Gathers the methods of every node that has the path, and answers the facts of the nearest node above it. */
function collect(
  node: PathNode,
  path: string,
  from: number,
  end: number,
  methods: Set<string>,
): RouteFacts | undefined {
  if (from > end) {
    for (const method of node.routes.keys()) methods.add(method);
    return node.below;
  }
  const slash = path.indexOf('/', from);
  const stop = slash === -1 || slash > end ? end : slash;
  let nearest: RouteFacts | undefined;
  if (stop > from) {
    for (const child of [node.literals.get(path.slice(from, stop)), node.parameter]) {
      const facts = child && collect(child, path, stop + 1, end, methods);
      nearest ??= facts;
    }
  }
  if (node.rest && from < end) {
    for (const method of node.rest.routes.keys()) methods.add(method);
    nearest ??= node.rest.below;
  }
  return nearest ?? node.below;
}
