// Lists the periodic jobs: function and period.

/** Functions for jobs, from the composition. */
export interface JobContext {
  /** Logs an expired channel record, or its renewal. */
  readonly checkRecordExpiry: (nowMs: number) => void
  /** Writes again what the disk has refused. */
  readonly retryDisk: () => void
  /** Removes stored bundles that are neither active nor previous. */
  readonly collectOldBundles: () => Promise<void>
  /** Returns free pages of the C library to the system. */
  readonly trimMemory: () => void
  /** Starts packing the repository when many objects are loose, without waiting for the end. */
  readonly packRepository: () => Promise<void>
  /** Samples the load of each responder since the last call. */
  readonly sampleThreadLoad: () => void
  /** Checks the licence: its end, a token applied on another node, a revocation. */
  readonly refreshLicence: () => Promise<void>
  /** Drops old measurements of browsers. */
  readonly forgetOldMeasurements: () => void
  /** Adds to the store what tenants have used since the last time. */
  readonly flushUsage: () => Promise<void>
  /** Stores which names and members were used since the last time. */
  readonly flushUse: () => Promise<void>
  /** Writes a backup, when the last one is old enough. */
  readonly backUp: () => Promise<void>
  /** Checks whether a database on another server is up. */
  readonly lookAtDatabase: () => Promise<void>
  /** Adds to the store the hits of response rules and redirects since the last time. */
  readonly flushResponseHits: () => Promise<void>
  /** Checks whether other nodes have written TSIG keys or TXT records. */
  readonly lookAtDynamicDns: () => Promise<void>
  /** Looks whether other nodes have changed keys of zones, and whether it is time to roll some. */
  readonly lookAtZoneKeys: () => Promise<void>
  /** Gets a certificate where it is time, without waiting for it. */
  readonly lookAtCertificates: () => Promise<void>
  /** Goes on with what reaches nodes in waves. */
  readonly lookAtDelivery: () => Promise<void>
  /** Announces the state of this node. */
  readonly announceNode: () => void
  /** Merges what other control nodes know of pulling nodes. */
  readonly lookAtFleet: () => Promise<void>
  /** Copies this node's journal to the database, and removes old records there. */
  readonly copyJournals: () => Promise<void>
  /** Announces the active commit of this node. */
  readonly announceCommit: () => void
  /** Stores activations and held commits of this node. */
  readonly recordCommits: () => Promise<void>
  /** Starts pushes of zones that are due. */
  readonly pushZones: () => Promise<void>
  /** Reconciles the servers with redirects that are due. */
  readonly reconcileRedirects: () => void
  /** Reports findings; on the leading node opens, ends and sends alerts. */
  readonly lookAtAlerts: () => Promise<void>
  /** Checks delegated domains that are due. */
  readonly verifyDomains: () => Promise<void>
  /** Trims the copy of the audit log. */
  readonly pruneAudit: () => Promise<void>
}

/** From the end of a run to the start of the next, within `jitterRatio`; every job has one. */
const periodsMs: Readonly<Record<keyof JobContext, number>> = {
  sampleThreadLoad: 5_000,
  lookAtDatabase: 5_000,
  // Every node has it within five seconds, jitter included.
  lookAtDynamicDns: 4_000,
  lookAtZoneKeys: 10_000,
  lookAtCertificates: 10_000,
  // Within five seconds, jitter included.
  flushResponseHits: 4_000,
  // Waves are held for seconds.
  lookAtDelivery: 1_000,
  announceNode: 5_000,
  // The states of many nodes are megabytes.
  lookAtFleet: 15_000,
  copyJournals: 10_000,
  announceCommit: 5_000,
  recordCommits: 5_000,
  // Each server has an interval of its own, of a second at least.
  reconcileRedirects: 1_000,
  // Each target has an interval of its own; commits are pushed within this one.
  pushZones: 5_000,
  lookAtAlerts: 5_000,
  retryDisk: 5_000,
  forgetOldMeasurements: 10_000,
  // Other jobs allocate and free some 10 MiB. A run takes a millisecond.
  trimMemory: 15_000,
  // A look takes no longer.
  verifyDomains: 30_000,
  refreshLicence: 30_000,
  checkRecordExpiry: 60_000,
  flushUsage: 60_000,
  // A crash loses as much, and days are what count.
  flushUse: 300_000,
  // A backup may be late by this much.
  backUp: 5_000,
  packRepository: 60_000,
  pruneAudit: 3_600_000,
  collectOldBundles: 3_600_000,
}

export interface Job {
  /** That of its function, with hyphens: `flush-usage`. */
  readonly name: string
  readonly periodMs: number
  readonly run: (context: JobContext, nowMs: number) => void | Promise<void>
}

/** All jobs. Adding one means a function in the context, and its period. */
export const jobs: readonly Job[] = Object.freeze(
  Object.entries(periodsMs).map(([key, periodMs]): Job => {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return { name, periodMs, run: (context, nowMs) => context[key as keyof JobContext](nowMs) }
  }),
)
