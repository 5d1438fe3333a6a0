export const NO_SECOND_TRY: readonly string[];
export function maySecondTry(path: string): boolean;
