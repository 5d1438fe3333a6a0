import { DomainError } from '../domain-error.ts';
import { percentDecode } from '../percent-decode.ts';
import { MethodNotAllowed } from './method-not-allowed.ts';
import type { PathParameters, Route } from './route.ts';

/** The routes of one path template, by method. */
interface Place {
  segments: string[];
  routes: Map<string, Route>;
}

/** Finds the route for a method and a path. */
export interface Router {
  /**
   * @throws DomainError `route_not_found`, `method_not_allowed`
   */
  find(method: string, path: string): { route: Route; parameters: PathParameters };
}

const isParameter = (segment: string) => segment.startsWith('{');

export function createRouter(routes: readonly Route[]): Router {
  const places = new Map<string, Place>();
  for (const route of routes) {
    let place = places.get(route.path);
    if (place === undefined) {
      place = { segments: route.path.split('/'), routes: new Map() };
      places.set(route.path, place);
    }
    place.routes.set(route.method, route);
  }
  const templates = [...places.values()].filter(({ segments }) => segments.some(isParameter));

  function locate(path: string): { place: Place; parameters: PathParameters } {
    // Most paths have no parameter and are found by their text.
    const fixed = places.get(path);
    if (fixed !== undefined) return { place: fixed, parameters: {} };
    const segments = path.split('/');
    for (const place of templates) {
      const parameters = matchSegments(place.segments, segments);
      if (parameters !== null) return { place, parameters };
    }
    throw new DomainError('route_not_found');
  }

  return {
    find(method, path) {
      const { place, parameters } = locate(path);
      const route = place.routes.get(method === 'HEAD' ? 'GET' : method);
      if (route === undefined) throw new MethodNotAllowed([...place.routes.keys()]);
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
