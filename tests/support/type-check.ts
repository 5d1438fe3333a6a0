import ts from 'typescript';
import { examplesFolder as folder } from './examples-folder.ts';

/**
 * Type-checks programs as files of the examples folder, with its tsconfig.json.
 *
 * @returns the messages of the compiler, one per line
 */
export function typeCheck(...programs: string[]): string[] {
  const files = new Map(programs.map((code, index) => [`${folder}snippet-${index}.ts`, code]));
  const config = ts.readConfigFile(`${folder}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, folder);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const code = files.get(name);
    if (code === undefined) return getSourceFile.call(host, name, version, ...rest);
    return ts.createSourceFile(name, code, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
