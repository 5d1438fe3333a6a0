import type { Service } from '@latchkey/rules/service';
import type { Refusal } from '@latchkey/schema';
import { callOperation } from '../../src/operations/call-operation.ts';

/** What was refused in a request. */
export async function refusalsOf(service: Service, request_id: string): Promise<Refusal[]> {
  return (await callOperation(service, 'admin.refusals.list', { request_id })).data;
}
