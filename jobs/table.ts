// Lists the periodic jobs: name, period, function.

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

export interface Job {
  readonly name: string
  /** From the end of a run to the start of the next, within `jitterRatio`. */
  readonly periodMs: number
  readonly run: (context: JobContext, nowMs: number) => void | Promise<void>
}

/** All jobs. Adding one means a row here, and a function in the context. */
export const jobs: readonly Job[] = Object.freeze<Job[]>([
  {
    name: 'sample-thread-load',
    periodMs: 5_000,
    run: (context) => context.sampleThreadLoad(),
  },
  {
    name: 'look-at-database',
    periodMs: 5_000,
    run: (context) => context.lookAtDatabase(),
  },
  {
    name: 'look-at-dynamic-dns',
    // Every node has it within five seconds, jitter included.
    periodMs: 4_000,
    run: (context) => context.lookAtDynamicDns(),
  },
  {
    name: 'look-at-zone-keys',
    periodMs: 10_000,
    run: (context) => context.lookAtZoneKeys(),
  },
  {
    name: 'look-at-certificates',
    periodMs: 10_000,
    run: (context) => context.lookAtCertificates(),
  },
  {
    name: 'flush-response-hits',
    // Within five seconds, jitter included.
    periodMs: 4_000,
    run: (context) => context.flushResponseHits(),
  },
  {
    name: 'look-at-delivery',
    // Waves are held for seconds.
    periodMs: 1_000,
    run: (context) => context.lookAtDelivery(),
  },
  {
    name: 'announce-node',
    periodMs: 5_000,
    run: (context) => context.announceNode(),
  },
  {
    name: 'look-at-fleet',
    // The states of many nodes are megabytes.
    periodMs: 15_000,
    run: (context) => context.lookAtFleet(),
  },
  {
    name: 'copy-journals',
    periodMs: 10_000,
    run: (context) => context.copyJournals(),
  },
  {
    name: 'announce-commit',
    periodMs: 5_000,
    run: (context) => context.announceCommit(),
  },
  {
    name: 'record-commits',
    periodMs: 5_000,
    run: (context) => context.recordCommits(),
  },
  {
    name: 'reconcile-redirects',
    // Each server has an interval of its own, of a second at least.
    periodMs: 1_000,
    run: (context) => context.reconcileRedirects(),
  },
  {
    name: 'push-zones',
    // Each target has an interval of its own; commits are pushed within this one.
    periodMs: 5_000,
    run: (context) => context.pushZones(),
  },
  {
    name: 'look-at-alerts',
    periodMs: 5_000,
    run: (context) => context.lookAtAlerts(),
  },
  {
    name: 'retry-disk',
    periodMs: 5_000,
    run: (context) => context.retryDisk(),
  },
  {
    name: 'forget-old-measurements',
    periodMs: 10_000,
    run: (context) => context.forgetOldMeasurements(),
  },
  {
    name: 'trim-memory',
    // Other jobs allocate and free some 10 MiB. A run takes a millisecond.
    periodMs: 15_000,
    run: (context) => context.trimMemory(),
  },
  {
    name: 'verify-domains',
    // A look takes no longer.
    periodMs: 30_000,
    run: (context) => context.verifyDomains(),
  },
  {
    name: 'refresh-licence',
    periodMs: 30_000,
    run: (context) => context.refreshLicence(),
  },
  {
    name: 'check-record-expiry',
    periodMs: 60_000,
    run: (context, nowMs) => context.checkRecordExpiry(nowMs),
  },
  {
    name: 'flush-usage',
    periodMs: 60_000,
    run: (context) => context.flushUsage(),
  },
  {
    name: 'flush-use',
    // A crash loses as much, and days are what count.
    periodMs: 300_000,
    run: (context) => context.flushUse(),
  },
  {
    name: 'back-up',
    // A backup may be late by this much.
    periodMs: 5_000,
    run: (context) => context.backUp(),
  },
  {
    name: 'pack-repository',
    periodMs: 60_000,
    run: (context) => context.packRepository(),
  },
  {
    name: 'prune-audit',
    periodMs: 3_600_000,
    run: (context) => context.pruneAudit(),
  },
  {
    name: 'collect-old-bundles',
    periodMs: 3_600_000,
    run: (context) => context.collectOldBundles(),
  },
])
