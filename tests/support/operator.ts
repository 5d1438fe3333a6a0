/** For a service that the test starts. */
export const ADMIN_SECRET = 'an-admin-secret-for-tests-with-32-characters';

/**
 * Calls a route of `/admin` as the operator.
 *
 * @throws Error with the response if its status is not 200
 */
export async function operator<Result>(
  service: { url: string },
  method: string,
  path: string,
  body?: object,
): Promise<Result> {
  const response = await fetch(`${service.url}/admin${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${ADMIN_SECRET}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Result;
}
