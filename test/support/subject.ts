// The server under conformance test: a whole node on real sockets.
import { afterAll, beforeAll } from 'vitest'
import { ask } from './dns/client.ts'
import type { AskParts, Endpoint } from './dns/client.ts'
import { conformanceConfig } from './dns/fixture.ts'
import type { Served } from './dns/model.ts'
import type { Message } from './dns/message.ts'
import { startNode } from './dns/node.ts'
import type { NodeSettings } from './dns/node.ts'
import { referenceServers } from './dns/reference.ts'
import type { RunningServer } from './dns/reference.ts'

/**
 * Starts a node that serves `config`, with single-member pools, so that answers are known. With
 * GSLBD_SUBJECT=knot or =nsd in the environment that server is started instead: it shows which
 * tests cover common behaviour, and which a choice of ours.
 */
async function startSubject(config: Served, settings: NodeSettings = {}): Promise<RunningServer> {
  const other = referenceServers.find(({ name }) => name === process.env['GSLBD_SUBJECT'])
  return other === undefined ? startNode(config, settings) : other.start(config)
}

export interface Subject {
  /** Set once the suite runs. */
  readonly endpoint: () => Endpoint
  readonly ask: (question: string, parts?: AskParts) => Promise<Message>
}

/** One server for the tests of a file. */
export function useSubject(
  settings: NodeSettings = {},
  config: Served = conformanceConfig,
): Subject {
  let server: RunningServer | undefined
  beforeAll(async () => {
    server = await startSubject(config, settings)
  })
  afterAll(() => server?.stop())
  const endpoint = (): Endpoint => {
    if (server === undefined) throw new Error('the server runs only while tests run')
    return server
  }
  return { endpoint, ask: (question, parts) => ask(endpoint(), question, parts) }
}
