import { describeOnEachMongodb } from '../../../test/http/databases.ts';
import { mongoHarness } from '../../../test/store/mongodb/mongo-harness.ts';
import { describeStore } from '../../../test/store/store-suite.ts';

describeOnEachMongodb('the store', (server) => describeStore('MongoDB', mongoHarness(server)));
