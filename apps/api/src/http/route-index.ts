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
  /** The length of the longest of them: a longer segment, such as an id, is none and is not even hashed. */
  longestLiteral: number;
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
  longestLiteral: 0,
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
 * Built once from the routes that the controllers declare. A lookup follows the path segment by segment through a tree,
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
    const missed = new MissedPath(path, end);
    missed.visit(this.root, 1);
    return { facts: missed.facts, pattern: undefined, otherMethods: [...missed.methods].sort() };
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
  node.longestLiteral = Math.max(node.longestLiteral, segment.length);
  return child;
}

const literalAt = (node: PathNode, path: string, from: number, stop: number): PathNode | undefined =>
  stop - from > node.longestLiteral ? undefined : node.literals.get(path.slice(from, stop));

function segmentEnd(path: string, from: number, end: number): number {
  const slash = path.indexOf('/', from);
  return slash === -1 || slash > end ? end : slash;
}

/** The route of a method at a path, of which the part from `from` to `end` is left. */
function routeAt(node: PathNode, method: string, path: string, from: number, end: number): RouteMatch | undefined {
  if (from > end) return node.routes.get(method);
  const stop = segmentEnd(path, from, end);
  if (stop > from) {
    const literal = literalAt(node, path, from, stop);
    const found =
      (literal && routeAt(literal, method, path, stop + 1, end)) ??
      (node.parameter && routeAt(node.parameter, method, path, stop + 1, end));
    if (found) return found;
  }
  return from < end ? node.rest?.routes.get(method) : undefined;
}

/** Gathers what is known of a path that has no route for its method. */
class MissedPath {
  /** The methods of every node that has the path. */
  readonly methods = new Set<string>();
  /** Those of the nearest node above it. */
  facts = ELSEWHERE;
  private nearest = 0;

  constructor(
    private readonly path: string,
    private readonly end: number,
  ) {}

  visit(node: PathNode, from: number): void {
    if (from > this.end) return this.take(node);
    this.pass(node, from);
    const stop = segmentEnd(this.path, from, this.end);
    if (stop > from) {
      const literal = literalAt(node, this.path, from, stop);
      if (literal) this.visit(literal, stop + 1);
      if (node.parameter) this.visit(node.parameter, stop + 1);
    }
    if (node.rest && from < this.end) this.take(node.rest);
  }

  private pass({ below }: PathNode, from: number): void {
    if (!below || from <= this.nearest) return;
    this.facts = below;
    this.nearest = from;
  }

  private take(node: PathNode): void {
    this.pass(node, this.end + 1);
    for (const method of node.routes.keys()) this.methods.add(method);
  }
}
