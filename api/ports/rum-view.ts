// The port to the real-user measurements of this node.
import type { RumTarget } from '#routing/rum/targets.ts'

/** What a browser says it has measured. */
export interface RumSample {
  /** Address of a member. */
  readonly ip: string
  readonly latencyMs: number
}

export interface RumCoverage {
  readonly subnets: number
  /** One for each subnet and member. */
  readonly measurements: number
  /** By the member's id. */
  readonly subnetsByMember: ReadonlyMap<string, number>
}

export interface RumView {
  /**
   * What browsers may measure for a domain. Where it has more than `most`, each call gives the next
   * ones, so that all have their turn.
   */
  readonly targets: (domain: string, most: number) => readonly RumTarget[]
  /**
   * @param address of the client
   * @returns how many samples count; null: the address is none
   */
  readonly ingest: (domain: string, address: string, samples: readonly RumSample[]) => number | null
  /** @param counts which members are meant, by id */
  readonly coverage: (counts: (memberId: string) => boolean) => RumCoverage
  /**
   * How much browsers report, by network such as `192.0.2.0/24`; a recent report counts 1.
   *
   * @param counts which members are meant, by id
   */
  readonly reports: (counts: (memberId: string) => boolean) => ReadonlyMap<string, number>
}
