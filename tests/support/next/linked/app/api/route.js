import { linkOf } from '../../link.js';

export const fetchCache = 'default-cache';

export async function GET() {
  return new Response(await linkOf());
}
