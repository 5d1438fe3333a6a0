/** The URL of the server that `TEST_DATABASE_URL` names, if it is of this kind; undefined otherwise. */
export function givenUrl(kind: 'mongodb' | 'postgres', env: NodeJS.ProcessEnv): string | undefined {
  const url = env.TEST_DATABASE_URL;
  return url?.startsWith(kind) ? url : undefined;
}
