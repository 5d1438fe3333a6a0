const TSX = 'tsx --env-file=.env start.ts';
const UVICORN = '.venv/bin/uvicorn --host 127.0.0.1 --port "$PORT" --no-access-log';
const EXPRESS = {
  language: 'node',
  dependencies: ['express', 'express-session'],
  devDependencies: ['@types/express', '@types/express-session', 'tsx'],
  run: TSX,
};
const PAGE = { 'page.ts': 'examples/express/page.ts' };
const FASTAPI = { 'requirements.txt': 'examples/hosts/fastapi/requirements.txt' };
/** Not whole folders: once an example has run, its packages and its .env are there too. */
const filesIn = (folder, ...names) =>
  Object.fromEntries(names.map((name) => [name, `${folder}/${name}`]));

/** In the order in which they are listed. */
export const projects = {
  application: {
    express: {
      ...EXPRESS,
      files: {
        ...PAGE,
        'app.ts': 'examples/express/app.ts',
        'start.ts': 'scripts/new/starts/application-express.ts',
      },
    },
    next: {
      language: 'node',
      files: filesIn(
        'examples/linking/next',
        'app/callback/route.ts',
        'app/connect/route.ts',
        'app/disconnect/route.ts',
        'app/layout.tsx',
        'app/page.tsx',
        'app/sign-in/route.ts',
        'linking.ts',
      ),
      dependencies: ['next', 'react', 'react-dom'],
      devDependencies: ['@types/node', '@types/react', 'typescript'],
      // It reads .env itself.
      run: 'next dev --hostname 127.0.0.1 --port',
    },
    hono: {
      language: 'node',
      files: {
        ...PAGE,
        'app.ts': 'examples/linking/hono.ts',
        'start.ts': 'scripts/new/starts/application-hono.ts',
      },
      dependencies: ['hono', '@hono/node-server'],
      devDependencies: ['tsx'],
      run: TSX,
    },
    fastapi: {
      language: 'python',
      files: { ...FASTAPI, 'app.py': 'examples/linking/fastapi/app.py' },
      run: `${UVICORN} app:app`,
    },
    go: {
      language: 'go',
      files: filesIn('examples/oauth-clients/go', 'go.mod', 'go.sum', 'main.go'),
      run: 'go run .',
    },
  },
  host: {
    express: {
      ...EXPRESS,
      files: {
        ...PAGE,
        'host.ts': 'examples/express/host.ts',
        'start.ts': 'scripts/new/starts/host-express.ts',
      },
    },
    fastapi: {
      language: 'python',
      files: { ...FASTAPI, 'host.py': 'examples/hosts/fastapi/host.py' },
      run: `${UVICORN} host:app`,
    },
    go: {
      language: 'go',
      files: filesIn('examples/hosts/go', 'go.mod', 'latchkey.go', 'main.go'),
      run: 'go run .',
    },
  },
  mcp: {
    express: {
      ...EXPRESS,
      dependencies: [
        '@modelcontextprotocol/client',
        '@modelcontextprotocol/node',
        '@modelcontextprotocol/server',
        'express',
      ],
      devDependencies: ['@types/express', 'tsx'],
      scripts: { client: 'tsx --env-file=.env client.ts' },
      files: {
        'client.ts': 'examples/mcp/client.ts',
        'server.ts': 'examples/mcp/server.ts',
        'start.ts': 'scripts/new/starts/mcp-express.ts',
      },
    },
  },
};

/** The port of each, unless another one is asked for. Guides and examples have the same. */
export const ports = { application: 4000, host: 4001, mcp: 4002 };
