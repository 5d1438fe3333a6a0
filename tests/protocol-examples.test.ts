import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startExampleService } from './support/protocol/example-service.ts';
import { differences, readExamples, readValues, sendExample } from './support/protocol/examples.ts';

// Sends the requests of docs/protocol, and compares the responses with those of the page.

const examples = await readExamples();
const shown = await readValues();

describe('the examples of docs/protocol, one after the other, hold for the service', () => {
  let service: Awaited<ReturnType<typeof startExampleService>>;
  beforeAll(async () => {
    service = await startExampleService(shown);
  });
  afterAll(() => service.close());

  test.each(examples)('$place: $request.start', async (example) => {
    const response = await sendExample(example, service, service.values);
    const options = { ignoresDescriptions: false };
    expect(await differences(example, response, service.values, options)).toEqual([]);
  });
});
