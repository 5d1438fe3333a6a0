import { testStore } from '@latchkey/store-suite';
import { modelHarness } from '@latchkey/store-suite/model-harness';

testStore('The model in memory', modelHarness);
