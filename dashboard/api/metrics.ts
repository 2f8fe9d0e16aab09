// Reads the counters of the node, for the chart of queries.
import { send } from './client.ts'

/** How many responses were sent so far, by response code. */
export async function readResponses(): Promise<ReadonlyMap<string, number>> {
  const { body } = await send('/metrics')
  return responsesIn(String(body))
}

/** @param text as Prometheus reads it */
export function responsesIn(text: string): ReadonlyMap<string, number> {
  const row = /^gslbd_dns_responses_total\{rcode="([^"]*)"\} (\S+)$/gm
  return new Map([...text.matchAll(row)].map(([, code = '', count]) => [code, Number(count)]))
}
