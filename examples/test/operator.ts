/** For a service that is started with it. */
export const ADMIN_SECRET = 'an-admin-secret-for-tests-with-32-characters';

/**
 * Does what an operator does: calls a route of `/admin`.
 *
 * @throws Error with the answer, where its status is not 200
 */
export async function operator<Answer>(
  service: { url: string },
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${service.url}/admin${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${ADMIN_SECRET}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Answer;
}
