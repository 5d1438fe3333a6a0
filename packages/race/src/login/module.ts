import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WrongOption } from '../wrong-option.ts';
import type { Login } from './login.ts';

/**
 * The default export of a module.
 *
 * @throws WrongOption
 */
export async function loadLogin(file: string): Promise<Login> {
  const path = resolve(file);
  const module = await import(pathToFileURL(path).href).catch((error: unknown) => {
    // A module can throw anything, null too.
    const { code, message = String(error) }: Partial<NodeJS.ErrnoException> = Object(error);
    const hint =
      code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? ' This Node runs no TypeScript: take Node 22.18 or later, or a .mjs file.'
        : '';
    throw new WrongOption(`--login ${file} can't be loaded: ${message}.${hint}`);
  });
  if (typeof module.default === 'function') return async (...given) => module.default(...given);
  throw new WrongOption(`--login ${file} has no function as its default export.`);
}
