// What browsers had measured at an instant, in the form that steps read, and as people read it.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { SimulatedService } from '#judge/simulate/service.ts'
import { rumMsOf } from '#routing/rum/average.ts'
import { RumKind, rumTableBytes } from '#routing/rum/table.ts'
import type { MeasuredThen, Then } from '#journal/sides/sides-then.ts'
import { measuredThen } from '#journal/sides/sides-then.ts'
import type { Moment } from '#journal/moment.ts'
import { rumNetworkOf, rumNetworkText } from '#inputs/rum/rum-networks.ts'
import { rumLimits } from '#inputs/rum/rum-store.ts'
import { RumTableWriter } from '#inputs/rum/rum-table-writer.ts'

/** Latencies that the client's network had measured to the candidates of an answer. */
export interface MeasuredOfClient {
  /** Such as `192.0.2.0/24`. */
  readonly network: string
  readonly averages: readonly {
    /** An address, or the host name of an alias. */
    readonly member: string
    /** null: nobody in the network had measured it. */
    readonly latencyMs: number | null
  }[]
}

/** A table that never was, of a journal that a stranger wrote, is damaged: it may have no room. */
export function tableThen(moment: Moment): Then<MeasuredThen> {
  const then = measuredThen(moment.measured)
  if (then.kind === 'unkept') return then
  const members = new Set(then.value.flatMap(({ averages }) => [...averages.keys()]))
  const entries = then.value.reduce((sum, { averages }) => sum + averages.size, members.size)
  return entries > rumLimits.entriesMax ? { kind: 'unkept', why: 'damaged' } : then
}

/** null: nothing was measured, which steps take as if there was no table. */
export function rumTableOf(measured: MeasuredThen): SharedArrayBuffer | null {
  if (measured.length === 0) return null
  const table = new SharedArrayBuffer(rumTableBytes)
  const writer = new RumTableWriter(table)
  const networksOf = new Map<string, number>()
  writer.change(() => {
    for (const { high, low, averages } of measured) {
      for (const [uid, code] of averages) {
        writer.set(high, low, wordsOf(uid), rumMsOf(code))
        networksOf.set(uid, (networksOf.get(uid) ?? 0) + 1)
      }
    }
    for (const [uid, count] of networksOf) writer.set(0, RumKind.AnyNetwork, wordsOf(uid), count)
  })
  return table
}

const wordsOf = (uid: string): Uint32Array =>
  new Uint32Array(Uint8Array.from(Buffer.from(uid, 'hex')).buffer)

/** @param address of the client: 4 or 16 octets */
export function measuredOf(
  measured: MeasuredThen,
  { memberUid }: Bundle,
  { trace, members }: SimulatedService,
  address: Uint8Array,
): MeasuredOfClient {
  const network = rumNetworkOf(address)
  const isHere = ({ high, low }: typeof network): boolean =>
    high === network.high && low === network.low
  const codes = measured.find(isHere)?.averages
  const averages = (trace?.candidates ?? []).map((member) => {
    const index = members.find(({ ipAddress }) => ipAddress === member)?.index ?? -1
    const uid = Buffer.from(memberUid.subarray(index * 16, index * 16 + 16)).toString('hex')
    const code = codes?.get(uid)
    return { member, latencyMs: code === undefined ? null : rumMsOf(code) }
  })
  return { network: rumNetworkText(network), averages }
}
