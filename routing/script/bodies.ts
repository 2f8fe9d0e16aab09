// Lists the scripts of a bundle, and which services use them.
import { createHash } from 'node:crypto'
import { nameOfNode, serviceCell, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { parsePolicyText } from '#bundle/format/routing-text.ts'

/** The distinct bodies, in the order of the policies. A script's number is its position. */
export function scriptBodiesOf(bundle: Bundle): readonly string[] {
  const bodies = new Set<string>()
  for (let at = 0; at < bundle.policyRow.length; at += PolicyCell.Words) {
    for (const body of bodiesAt(bundle, at)) bodies.add(body)
  }
  return [...bodies]
}

const prefix = 'script:'

function bodiesAt(bundle: Bundle, at: number): readonly string[] {
  const text = textOf(bundle, bundle.policyRow[at + PolicyCell.Text]!)
  // Most policies have no script and are not parsed.
  if (!text.includes(prefix)) return []
  const chain = parsePolicyText(text)?.filterChain ?? []
  return chain.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
}

/**
 * Seats: a service's uses of scripts. Steps with one text have different seats in different
 * services.
 */
interface ScriptSeats {
  /**
   * Uint32, services + 1: the seats of service i are cells `starts[i]` to before `starts[i + 1]`.
   */
  readonly starts: SharedArrayBuffer
  /** Uint32 by seat: the script's number. */
  readonly scripts: SharedArrayBuffer
  /** By seat: the service's name and a digest of the body, with a space between. */
  readonly keys: readonly string[]
}

export function scriptSeatsOf(bundle: Bundle, bodies: readonly string[]): ScriptSeats {
  const { services } = bundle.counts
  const numbers = new Map(bodies.map((body, i) => [body, i]))
  const digests = bodies.map((body) => createHash('sha256').update(body).digest('hex').slice(0, 12))
  const byPolicy: number[][] = []
  for (let at = 0; at < bundle.policyRow.length; at += PolicyCell.Words) {
    byPolicy.push([...new Set(bodiesAt(bundle, at).map((body) => numbers.get(body)!))])
  }
  const starts = new Uint32Array(new SharedArrayBuffer((services + 1) * 4))
  const scripts: number[] = []
  const keys: string[] = []
  for (let service = 0; service < services; service++) {
    const policy = serviceCell(bundle, service, NodeCell.Algorithm) - firstPolicyCode
    for (const script of byPolicy[policy] ?? []) {
      scripts.push(script)
      keys.push(`${nameOfNode(bundle, bundle.serviceNode[service]!)} ${digests[script]!}`)
    }
    starts[service + 1] = scripts.length
  }
  const shared = new Uint32Array(new SharedArrayBuffer(scripts.length * 4))
  shared.set(scripts)
  return { starts: starts.buffer, scripts: shared.buffer, keys }
}

/** The service and step of a seat, for people. */
interface SeatNames {
  readonly tenant: string
  /** The service's domain. */
  readonly service: string
  /** Positions from 1 of the chain's steps with this text. */
  readonly steps: readonly number[]
}

export function namesOfSeat(
  bundle: Bundle,
  { starts, scripts }: Pick<ScriptSeats, 'starts' | 'scripts'>,
  bodies: readonly string[],
  seat: number,
): SeatNames {
  const [ends, numbers] = [new Uint32Array(starts).subarray(1), new Uint32Array(scripts)]
  const service = ends.findIndex((end) => seat < end)
  const policy = serviceCell(bundle, service, NodeCell.Algorithm) - firstPolicyCode
  const text = textOf(bundle, bundle.policyRow[policy * PolicyCell.Words + PolicyCell.Text]!)
  const step = `${prefix}${bodies[numbers[seat]!]!}`
  const chain = parsePolicyText(text)?.filterChain ?? []
  return {
    tenant: textOf(bundle, bundle.serviceTenant[service]!),
    service: nameOfNode(bundle, bundle.serviceNode[service]!),
    steps: chain.flatMap((name, i) => (name === step ? [i + 1] : [])),
  }
}
