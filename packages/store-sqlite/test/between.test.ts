import '@latchkey/store-suite/plant-mistake';
import { describeBetween } from '@latchkey/store-suite/between';
import { sqliteHarness } from './sqlite-harness.ts';

describeBetween(sqliteHarness);
