export type { Browser } from './http/browser.ts';
export type { Login } from './login/login.ts';
export { type Load, measureRow, type ResponseCount, type RowResult } from './measure.ts';
export type { ClientAuth } from './oauth-server.ts';
export type { Outcome, Round, Row, Verdict } from './rows/row.ts';
export { rows } from './rows/rows.ts';
export { type Report, type RunOptions, run } from './run.ts';
export { type Answer, type Attempt, type Check, type Code, NoCode, type Server } from './server.ts';
export { WrongOption } from './wrong-option.ts';
