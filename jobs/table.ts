// Lists the periodic jobs: what each does, and its period.

/** From the end of a run to the start of the next, within `jitterRatio`. */
const periodsMs = {
  /** Samples the load of each responder since the last call. */
  sampleThreadLoad: 5_000,
  /** Checks whether a database on another server is up. */
  lookAtDatabase: 5_000,
  /**
   * Checks whether other nodes have written TSIG keys or TXT records: every node has them within
   * five seconds, jitter included.
   */
  lookAtDynamicDns: 4_000,
  /** Looks whether other nodes have changed keys of zones, and whether it is time to roll some. */
  lookAtZoneKeys: 10_000,
  /** Gets a certificate where it is time, without waiting for it. */
  lookAtCertificates: 10_000,
  /** Adds hits of response rules and redirects to the store, within five seconds as above. */
  flushResponseHits: 4_000,
  /** Goes on with what reaches nodes in waves, which are held for seconds. */
  lookAtDelivery: 1_000,
  /** Announces the state of this node. */
  announceNode: 5_000,
  /** Merges what other control nodes know of pulling nodes: for many nodes that is megabytes. */
  lookAtFleet: 15_000,
  /** Copies this node's journal to the database, and removes old records there. */
  copyJournals: 10_000,
  /** Announces the active commit of this node. */
  announceCommit: 5_000,
  /** Stores activations and held commits of this node. */
  recordCommits: 5_000,
  /** Reconciles the servers with redirects that are due: each has an interval of its own. */
  reconcileRedirects: 1_000,
  /** Starts pushes of zones that are due; commits are pushed within this period. */
  pushZones: 5_000,
  /** Reports findings; on the leading node opens, ends and sends alerts. */
  lookAtAlerts: 5_000,
  /** Writes again what the disk has refused. */
  retryDisk: 5_000,
  /** Drops old measurements of browsers. */
  forgetOldMeasurements: 10_000,
  /**
   * Returns free pages of the C library to the system: other jobs allocate and free some 10 MiB. A
   * run takes a millisecond.
   */
  trimMemory: 15_000,
  /** Checks delegated domains that are due. A look takes no longer. */
  verifyDomains: 30_000,
  /** Checks the licence: its end, a token applied on another node, a revocation. */
  refreshLicence: 30_000,
  /** Logs an expired channel record, or its renewal. */
  checkRecordExpiry: 60_000,
  /** Adds to the store what tenants have used since the last time. */
  flushUsage: 60_000,
  /** Stores which names and members were used: a crash loses as much, and days are what count. */
  flushUse: 300_000,
  /** Writes a backup, when the last one is old enough: it may be late by this much. */
  backUp: 5_000,
  /** Starts packing the repository when many objects are loose, without waiting for the end. */
  packRepository: 60_000,
  /** Trims the copy of the audit log. */
  pruneAudit: 3_600_000,
  /** Removes stored bundles that are neither active nor previous. */
  collectOldBundles: 3_600_000,
} as const

type JobKey = keyof typeof periodsMs

/** The functions of the jobs, from the composition. */
export type JobContext = Readonly<Record<JobKey, () => void | Promise<void>>>

export interface Job {
  /** That of its function, with hyphens: `flush-usage`. */
  readonly name: string
  readonly periodMs: number
  readonly run: (context: JobContext) => void | Promise<void>
}

/** All jobs. Adding one means a row above, and a function in the context. */
export const jobs: readonly Job[] = Object.freeze(
  Object.entries(periodsMs).map(([key, periodMs]): Job => {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return { name, periodMs, run: (context) => context[key as JobKey]() }
  }),
)
