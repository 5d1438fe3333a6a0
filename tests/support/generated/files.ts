import { readFile } from 'node:fs/promises';
import { makeReference, pages, type Reference } from '../reference/reference.ts';

// Each maker is imported when it is asked for: one that fails keeps no other from its work.

export type Maker = () => Promise<string>;

let reference: Promise<Reference> | undefined;
const referencePage = (page: (typeof pages)[number]) => async () => {
  reference ??= makeReference();
  return (await reference).pages[page];
};

const operatorMethods = () => import('../../../packages/client/test/operator-methods.ts');

const objectTypes = () => import('../../../packages/schema/test/object-types.ts');

/** What makes each file that is generated and committed, by its path from the root. */
export const generated: Readonly<Record<string, Maker>> = {
  // First, because TypeDoc reads these.
  'packages/client/src/admin/operations.ts': async () =>
    (await operatorMethods()).operatorMethods(),
  'packages/client/src/admin/operator-calls.ts': async () =>
    (await operatorMethods()).operatorCalls(),
  'packages/schema/src/types.ts': async () => (await objectTypes()).objectTypes(),
  'packages/schema/test/written-types.ts': async () => (await objectTypes()).typesOfSchemas(),
  'apps/server/src/openapi/examples.json': async () => {
    const { recordedExamples } = await import('../../../apps/server/test/openapi/examples.ts');
    return recordedExamples();
  },
  'docs/checks.md': async () => {
    const { checksPage } = await import('../../../apps/server/test/http/checks-page.ts');
    return checksPage();
  },
  'docs/errors.md': async () => (await import('../error-page.ts')).errorPage(),
  'docs/operations/commands.md': async () => (await import('../command-page.ts')).commandPage(),
  ...Object.fromEntries(pages.map((page) => [`docs/reference/${page}.md`, referencePage(page)])),
};

/** Pages by hand that have one part which is generated. */
export const partly: Readonly<Record<string, Maker>> = {
  'docs/architecture.md': async () => {
    const { packageGraph } = await import('../manifests.ts');
    const graph = /(?<=```mermaid\n)flowchart TD\n[^`]*(?=```)/;
    return (await read('docs/architecture.md')).replace(graph, await packageGraph());
  },
  'docs/guides/oauth-clients.md': async () => {
    const { clientsTable } = await import('../clients-table.ts');
    const table = /^\| library .*\n(?:\|.*\n)*/m;
    return (await read('docs/guides/oauth-clients.md')).replace(table, await clientsTable());
  },
  'docs/protocol/operations.md': async () => {
    const { withOperationTables } = await import('../protocol/operation-tables.ts');
    return withOperationTables(await read('docs/protocol/operations.md'));
  },
};

/** Written by tests of the stores, which start the databases: the test of each file. It fails if the file is stale. */
export const statementTables: Readonly<Record<string, string>> = {
  'packages/store-mongodb/test/statements.txt':
    'packages/store-mongodb/test/statements.slow.test.ts',
  'packages/store-sqlite/test/statements.txt': 'packages/store-sqlite/test/statements.test.ts',
};

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
