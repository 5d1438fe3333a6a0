export const SETTINGS: readonly string[];
export function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
