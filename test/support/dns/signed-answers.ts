// Answers of a signed zone without a socket: the bundle of signed-zone.ts, with given keys and
// time.
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { Generation } from '#answer/serving-view.ts'
import { createSignatureMemory, setSignatureTime } from '#answer/signing/signature-table.ts'
import { packSignals } from '#answer/signing/signal-names.ts'
import { KeyMemory, packKeys } from '#answer/signing/signing-keys.ts'
import type { HandedSigning } from '#answer/signing/signing-keys.ts'
import { SigningMemory } from '#answer/signing/signing-memory.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { signedZones } from '#bundle/load/zone-signing.ts'
import { formatName } from '#dns/name.ts'
import { typeName } from './codes.ts'
import { decodeMessage, query } from './message.ts'
import type { Message, QueryParts } from './message.ts'
import type { ResourceRecord } from './record.ts'
import { signedName } from './signed-zone.ts'

export const nowSeconds = 1_900_000_000

export interface Answering {
  readonly ask: (question: string, parts?: QueryParts & { tcp?: boolean }) => Message
  readonly repeat: (packet: Uint8Array, times: number) => void
  readonly at: (seconds: number) => void
  /** Switches to other keys. */
  readonly take: (keys: SharedArrayBuffer) => void
  /** Switches to another bundle. */
  readonly serve: (bundle: Bundle) => void
  /** Sets the part that the node adds to SOA serials. */
  readonly addSerial: (serial: number) => void
  /** A member of the only pool is up, or down, from now on. */
  readonly setHealth: (member: number, isUp: boolean) => void
  /** What is answered from now. */
  readonly generation: () => SignedGeneration
}

type SignedGeneration = Generation & { readonly signing: HandedSigning }

/** @param keys result of `packKeys`; left out: no zone can be signed */
export function answering(
  first: Bundle,
  firstKeys: SharedArrayBuffer = packKeys([]),
  udpPayloadSize = 4_096,
): Answering {
  const settings = { nsid: '', versionBind: '', tcpIdleTimeoutMs: 0, udpPayloadSize }
  const tx = new Transaction(settings, 1, new Counters(new SharedArrayBuffer(Counters.bytes)))
  const signatures = createSignatureMemory(nowSeconds, 0)
  const memory = new SigningMemory()
  let [bundle, keys] = [first, firstKeys]
  let [number, keyNumber] = [0, 1]
  let state = createRoutingState(bundle, 1)
  let current: SignedGeneration
  const adopt = (): void => {
    const { bytes, digest } = bundle
    const keyed = new KeyMemory().keysOf({ number: keyNumber, keys, signatures })
    const names = new Set(keyed.map(({ zone }) => formatName(zone)))
    const rows = signedZones(bundle).flatMap(({ name, row }) => (names.has(name) ? [row] : []))
    const { memory: signals } = packSignals(bundle, (zone) => rows.includes(zone))
    const signing = { number: keyNumber, keys, signatures, signals }
    const [routing, tables] = [state.buffers, noRoutingTables]
    current = { number: ++number, bundle: bytes, digest, routing, tables, signing }
    tx.adopt(createServingView(current, { signing: memory }))
  }
  adopt()
  const slot = new Uint8Array(65_535)
  const reply = (packet: Uint8Array): number => {
    for (let i = 0; i < packet.length; i++) slot[i] = packet[i]!
    return answer(tx, slot, 0, packet.length, slot, 0, slot.length)
  }
  return {
    take: (handed) => {
      keys = handed
      keyNumber++
      adopt()
    },
    serve: (other) => {
      bundle = other
      state = createRoutingState(bundle, 1)
      adopt()
    },
    addSerial: (serial) => {
      state.soaSerial[0] = serial
    },
    setHealth: (member, isUp) => {
      state.memberHealthy[member] = isUp ? 1 : 0
      rebuildPool(bundle, state, 0)
    },
    generation: () => current,
    at: (seconds) => setSignatureTime(signatures, seconds),
    repeat: (packet, times) => {
      for (let i = 0; i < times; i++) reply(packet)
    },
    ask: (question, { tcp = false, ...parts }: QueryParts & { tcp?: boolean } = {}) => {
      tx.transport = tcp ? Transport.Tcp : Transport.Udp
      const opt = { udpSize: 4_096, dnssecOk: true, ...parts.opt }
      return decodeMessage(
        Buffer.from(slot.slice(0, reply(query(question, { id: 1, ...parts, opt })))),
      )
    },
  }
}

/** The name of a question in the signed zone, in full. */
export const full = (question: string): string =>
  question.replace(/^(\S+) /, (_all, name: string) =>
    name === '@' ? `${signedName} ` : `${name}.${signedName} `,
  )

export const typesIn = (records: Message['answer']): string[] =>
  records.map(({ type }) => typeName(type))

export const signaturesIn = ({ answer: found, authority, additional }: Message): ResourceRecord[] =>
  [...found, ...authority, ...additional].filter(({ type }) => typeName(type) === 'RRSIG')
