import { linkOf } from '../link.js';

// As in an application that was moved from Next.js 14 and keeps its defaults.
export const fetchCache = 'default-cache';

export default async function Page() {
  return <p>{await linkOf()}</p>;
}
