/** What a project registers at the service, and gets credentials for. */
export type Role = 'application' | 'host' | 'mcp';

export interface Project {
  /** Its files, by the files of the examples that they are copies of. */
  files: Readonly<Record<string, string>>;
  language: 'node' | 'python' | 'go';
  /** What it runs on besides the SDK; of Node, as the manifests of the repository have them. */
  dependencies?: readonly string[];
  devDependencies?: readonly string[];
  /** What `npm start` or `./start.sh` runs. */
  run: string;
  /** What else npm runs in it. */
  scripts?: Readonly<Record<string, string>>;
}

export const projects: Readonly<Record<Role, Readonly<Record<string, Project>>>>;
export const ports: Readonly<Record<Role, number>>;
