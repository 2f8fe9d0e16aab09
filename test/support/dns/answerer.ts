// The answer path without sockets, for tests with many queries.
import { encodeBundle } from '#bundle/encode/encode.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { assert } from '#lib/assert.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { Generation } from '#answer/serving-view.ts'
import type { AnswerSettings } from '#answer/transaction.ts'
import { modelOf } from './model.ts'
import type { Served } from './model.ts'

interface Answerer {
  /**
   * Writes the reply over the query, as the responders do.
   *
   * @returns the reply, or undefined when none would be sent
   */
  readonly ask: (query: Uint8Array, transport: Transport) => Buffer | undefined
  /** Writes the reply into a buffer of its own, as TCP does. */
  readonly askBeside: (query: Uint8Array, transport: Transport) => Buffer | undefined
}

const bytesMax = 65_535
const udpBytesMax = 1_232

export function createAnswerer(config: Served, settings: Partial<AnswerSettings> = {}): Answerer {
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction({ ...defaultSettings, ...settings }, 1, counters)
  tx.adopt(createServingView(generationOf(config)))
  const slot = new Uint8Array(bytesMax)
  const beside = new Uint8Array(bytesMax)
  const askInto = (query: Uint8Array, transport: Transport, into: Uint8Array) => {
    tx.transport = transport
    slot.set(query)
    const room = transport === Transport.Tcp ? bytesMax : udpBytesMax
    const length = answer(tx, slot, 0, query.length, into, 0, room)
    return length === 0 ? undefined : Buffer.from(into.subarray(0, length))
  }
  return {
    ask: (query, transport) => askInto(query, transport, slot),
    askBeside: (query, transport) => askInto(query, transport, beside),
  }
}

const defaultSettings: AnswerSettings = {
  udpPayloadSize: 1_232,
  nsid: '',
  versionBind: '',
  tcpIdleTimeoutMs: 10_000,
}

function generationOf(config: Served): Generation {
  const { bytes, digest } = encodeBundle(modelOf(config), (name) => {
    const code = plainCodeOf(name)
    assert(code >= 0, `${name} is a plain algorithm`)
    return code
  })
  const bundle = loadBundle(bytes)
  assert(bundle.ok, 'what the encoder wrote, the loader takes')
  const routing = createRoutingState(bundle.value, 1).buffers
  return { number: 1, bundle: bytes, digest, routing, tables: noRoutingTables }
}
