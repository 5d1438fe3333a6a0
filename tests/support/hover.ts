import { join } from 'node:path';
import ts from 'typescript';

/** A tag of a docstring, as an editor shows it. */
interface ShownTag {
  tag: string;
  /** With the names of links instead of the links. */
  text: string;
  /** The names that lead to a definition. */
  links: string[];
}

/** What an editor shows of a docstring. */
export interface Hover {
  /** The text above the tags. */
  text: string;
  tags: ShownTag[];
}

/**
 * What an editor shows when the pointer rests on a name, by TypeScript's language service.
 *
 * @param folder - a project with the packages that the program imports
 * @param name - what to rest on: its last place in the program
 */
export function quickInfo(folder: string, program: string, name: string): Hover {
  const file = join(folder, 'hover.mts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    types: [],
  };
  const contentOf = (path: string) => (path === file ? program : ts.sys.readFile(path));
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot(path) {
      const text = contentOf(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: contentOf,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    realpath: ts.sys.realpath ?? ((path) => path),
  });
  const { documentation = [], tags = [] } =
    service.getQuickInfoAtPosition(file, program.lastIndexOf(name)) ?? {};
  return {
    text: textOf(documentation),
    tags: tags.map(({ name: tag, text: parts = [] }) => ({
      tag,
      text: textOf(parts),
      links: parts.filter(({ kind }) => kind === 'linkName').map(({ text }) => text),
    })),
  };
}

const textOf = (parts: readonly ts.SymbolDisplayPart[]) =>
  parts
    .filter(({ kind }) => kind !== 'link')
    .map(({ text }) => text)
    .join('');
