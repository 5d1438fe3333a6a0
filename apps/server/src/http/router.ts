import { DomainError } from '@latchkey/domain/domain-error';
import { percentDecode } from '@latchkey/rules/percent-decode';
import type { Action } from '../operations/action.ts';
import type { RequestContext } from './request-context.ts';

export type PathParameters = Record<string, string>;

export type SendError = (context: RequestContext, error: DomainError) => void;

export type RouteAction = Omit<Action, 'handle'>;

export interface Route {
  readonly method: string;
  readonly path: string;
  /** Until the input is read, the first one counts. */
  readonly actions?: readonly RouteAction[];
  readonly sendError?: SendError;
  handle(context: RequestContext, parameters: PathParameters, query: string): Promise<void> | void;
}

export interface Target {
  path: string;
  query: string;
}

export function splitTarget(target: string): Target {
  // Proxies send the absolute form, other clients the origin form.
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const pathEnd = origin.indexOf('?');
  return pathEnd === -1
    ? { path: origin, query: '' }
    : { path: origin.slice(0, pathEnd), query: origin.slice(pathEnd + 1) };
}

export class MethodNotAllowed extends DomainError {
  readonly allow: string;

  constructor(methods: readonly string[]) {
    super('method_not_allowed');
    const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    this.allow = allowed.join(', ');
  }
}

export interface Router {
  find(method: string, path: string): { route: Route; parameters: PathParameters };
}

type Resource = Map<string, Route>;

/** The parameters of a path are named groups. */
const patternOf = (path: string) => new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

export function createRouter(routes: readonly Route[]): Router {
  const resources = new Map<string, Resource>();
  for (const route of routes) {
    const resource = resources.get(route.path) ?? new Map();
    resources.set(route.path, resource.set(route.method, route));
  }
  const templates = [...resources]
    .filter(([path]) => path.includes('{'))
    .map(([path, resource]) => ({ pattern: patternOf(path), resource }));

  function matchTemplate(path: string): { resource: Resource; parameters: PathParameters } {
    for (const { pattern, resource } of templates) {
      const { groups } = pattern.exec(path) ?? {};
      if (groups === undefined) continue;
      const parameters: PathParameters = {};
      for (const [name, text] of Object.entries(groups)) parameters[name] = percentDecode(text);
      return { resource, parameters };
    }
    throw new DomainError('route_not_found');
  }

  return {
    find(method, path) {
      const fixed = resources.get(path);
      const { resource, parameters } =
        fixed === undefined ? matchTemplate(path) : { resource: fixed, parameters: {} };
      const route = resource.get(method === 'HEAD' ? 'GET' : method);
      if (route === undefined) throw new MethodNotAllowed([...resource.keys()]);
      return { route, parameters };
    },
  };
}
