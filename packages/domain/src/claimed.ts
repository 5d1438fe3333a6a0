/**
 * What an application says of itself. Anything can be set to it, but it is a value only once somebody has asked
 * who vouches for it: see `vouchers.ts` of the rules. No symbol is ever in its place. Since one might be, the
 * compiler takes it for no text, and puts it into none.
 */
export type Claimed<Value> = Value | symbol;
