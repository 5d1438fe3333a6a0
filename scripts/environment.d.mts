export function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
