export function packagesToPack(args: string[]): { packages: string[]; folder: string | undefined };
