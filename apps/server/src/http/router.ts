import { DomainError } from '../domain-error.ts';
import type { Action } from '../operations/action.ts';
import { percentDecode } from '../percent-decode.ts';
import type { RequestContext } from './request-context.ts';

/** The parameters of a path template, by name, decoded. */
export type PathParameters = Record<string, string>;

/** Sends what a handler has thrown. */
export type SendError = (context: RequestContext, error: DomainError) => void;

/** What a route tells of an action that it carries out. */
export type RouteAction = Omit<Action, 'handle'>;

export interface Route {
  readonly method: string;
  /** A template: a segment in braces matches any one segment. */
  readonly path: string;
  /** What it may carry out. Until its input is read, the first one counts. Default: nothing. */
  readonly actions?: readonly RouteAction[];
  /** Default: as JSON. */
  readonly sendError?: SendError;
  /** Sends the response, or throws a DomainError. */
  handle(context: RequestContext, parameters: PathParameters, query: string): Promise<void> | void;
}

/** The path and the query of a request target (RFC 9112, section 3.2). */
export interface Target {
  path: string;
  /** Without the question mark; empty if there is none. */
  query: string;
}

export function splitTarget(target: string): Target {
  // A proxy sends the absolute form, everyone else the origin form.
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = origin.indexOf('?');
  return mark === -1
    ? { path: origin, query: '' }
    : { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}

/** The route exists, but not with this method. */
export class MethodNotAllowed extends DomainError {
  /** The value of the Allow header (RFC 9110, section 10.2.1). */
  readonly allow: string;

  constructor(methods: readonly string[]) {
    super('method_not_allowed');
    // HEAD is allowed wherever GET is.
    const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    this.allow = allowed.join(', ');
  }
}

export interface Router {
  /**
   * @throws DomainError `route_not_found`, `method_not_allowed`
   */
  find(method: string, path: string): { route: Route; parameters: PathParameters };
}

/** The routes of one path template. */
interface Resource {
  segments: string[];
  routesByMethod: Map<string, Route>;
}

const isParameter = (segment: string) => segment.startsWith('{');

export function createRouter(routes: readonly Route[]): Router {
  const resources = new Map<string, Resource>();
  for (const route of routes) {
    let resource = resources.get(route.path);
    if (resource === undefined) {
      resource = { segments: route.path.split('/'), routesByMethod: new Map() };
      resources.set(route.path, resource);
    }
    resource.routesByMethod.set(route.method, route);
  }
  const templates = [...resources.values()].filter(({ segments }) => segments.some(isParameter));

  function locate(path: string): { resource: Resource; parameters: PathParameters } {
    // Most paths have no parameter and are found as they are.
    const fixed = resources.get(path);
    if (fixed !== undefined) return { resource: fixed, parameters: {} };
    const segments = path.split('/');
    for (const resource of templates) {
      const parameters = matchSegments(resource.segments, segments);
      if (parameters !== null) return { resource, parameters };
    }
    throw new DomainError('route_not_found');
  }

  return {
    find(method, path) {
      const { resource, parameters } = locate(path);
      const route = resource.routesByMethod.get(method === 'HEAD' ? 'GET' : method);
      if (route === undefined) throw new MethodNotAllowed([...resource.routesByMethod.keys()]);
      return { route, parameters };
    },
  };
}

function matchSegments(template: string[], segments: string[]): PathParameters | null {
  if (template.length !== segments.length) return null;
  const parameters: PathParameters = {};
  for (let i = 0; i < template.length; i++) {
    const expected = template[i] as string;
    const actual = segments[i] as string;
    if (isParameter(expected) && actual !== '')
      parameters[expected.slice(1, -1)] = percentDecode(actual);
    else if (expected !== actual) return null;
  }
  return parameters;
}
