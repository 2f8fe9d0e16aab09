// Defines the port to the real-user measurements of this node.
import type { RumTarget } from '#routing/rum/targets.ts'

/** A measurement that a browser reports. */
interface RumSample {
  /** Address of the member. */
  readonly ip: string
  readonly latencyMs: number
}

interface RumCoverage {
  readonly subnets: number
  /** Measurements, one for each subnet and member. */
  readonly measurements: number
  /** Number of subnets by id of the member. */
  readonly subnetsByMember: ReadonlyMap<string, number>
}

export interface RumView {
  /**
   * Members that browsers may measure for a domain. When there are more than `most`, each call
   * returns the next ones, so that all have their turn.
   */
  readonly targets: (domain: string, most: number) => readonly RumTarget[]
  /**
   * @param address of the client
   *
   * @returns how many samples count; null: the address is invalid
   */
  readonly ingest: (domain: string, address: string, samples: readonly RumSample[]) => number | null
  /** @param counts selects members by id */
  readonly coverage: (counts: (memberId: string) => boolean) => RumCoverage
  /**
   * Number of reports by network, such as `192.0.2.0/24`; a recent report counts as 1.
   *
   * @param counts selects members by id
   */
  readonly reports: (counts: (memberId: string) => boolean) => ReadonlyMap<string, number>
}
