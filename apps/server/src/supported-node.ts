import packageJson from '../package.json' with { type: 'json' };

// Every entry point loads this before anything else. What it runs and imports has to work on any Node.

/** The oldest Node that the service runs on, such as `22.13`. */
export const oldestNode = packageJson.engines.node.replace('>=', '');

const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  throw new Error(
    `Latchkey needs Node ${oldestNode} or later, and ${process.execPath} is Node ${process.versions.node}: install a newer Node, or start Latchkey with another one.`,
  );
}
