export function findPnpm(): { command: string; args: string[]; folder: string | null };
export const isPinnedPlatform: boolean;
export function hasGlibc(): boolean;
