// The table of periodic jobs: name, period, function.

/** What jobs may do; the composition passes it in. */
export interface JobContext {
  /** Raises or clears the alarm of a channel record that is past its expiry. */
  readonly checkRecordExpiry: (nowMs: number) => void
  /** Writes again what the disk has refused. */
  readonly retryDisk: () => void
  /** Removes stored bundles that are neither active nor previous. */
  readonly collectOldBundles: () => Promise<void>
  /** Gives free pages back that the C library keeps. */
  readonly trimMemory: () => void
  /** Packs the objects of the repository when many lie loose; what begins goes on by itself. */
  readonly packRepository: () => Promise<void>
  /** Takes the load of each responder since the last call. */
  readonly sampleThreadLoad: () => void
  /** Looks at the licence: its end, another node's token, a revocation. */
  readonly refreshLicence: () => Promise<void>
  /** Forgets what browsers have measured and is too old. */
  readonly forgetOldMeasurements: () => void
  /** Adds to the store what tenants have used since the last time. */
  readonly flushUsage: () => Promise<void>
  /** Tells the store which names and members were used since the last time. */
  readonly flushUse: () => Promise<void>
  /** Writes a backup, when the last one is old enough. */
  readonly backUp: () => Promise<void>
  /** Asks a database on another server whether it is there. */
  readonly lookAtDatabase: () => Promise<void>
  /** Adds to the store the hits of response rules and redirects since the last time. */
  readonly flushResponseHits: () => Promise<void>
  /** Looks whether other nodes have written TSIG keys or TXT records. */
  readonly lookAtDynamicDns: () => Promise<void>
  /** Looks whether other nodes have changed keys of zones. */
  readonly lookAtZoneKeys: () => Promise<void>
  /** Goes on with what reaches nodes in waves. */
  readonly lookAtDelivery: () => Promise<void>
  /** Tells other nodes how this one is. */
  readonly announceNode: () => void
  /** Takes over what other control nodes know of nodes that pull. */
  readonly lookAtFleet: () => Promise<void>
  /** Copies the journal of this node to the database, and removes what is old there. */
  readonly copyJournals: () => Promise<void>
  /** Tells other nodes which commit this one answers from. */
  readonly announceCommit: () => void
  /** Stores since when this node answers from commits, and what it holds. */
  readonly recordCommits: () => Promise<void>
  /** Looks at the servers that get redirects, those whose time it is. */
  readonly reconcileRedirects: () => void
  /** Tells what is wrong here; on the node that leads, opens, ends and sends alerts. */
  readonly lookAtAlerts: () => Promise<void>
  /** Checks delegated domains that are due. */
  readonly verifyDomains: () => Promise<void>
  /** Removes what is too old, or too much, from the copy of the audit log. */
  readonly pruneAudit: () => Promise<void>
}

export interface Job {
  readonly name: string
  /** From the end of one run to the start of the next, give or take `jitterRatio`. */
  readonly periodMs: number
  readonly run: (context: JobContext, nowMs: number) => void | Promise<void>
}

/** Every job there is. Adding one means one row here and one function in the context. */
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
    // With its jitter within the five seconds in which every node has them.
    periodMs: 4_000,
    run: (context) => context.lookAtDynamicDns(),
  },
  {
    name: 'look-at-zone-keys',
    periodMs: 10_000,
    run: (context) => context.lookAtZoneKeys(),
  },
  {
    name: 'flush-response-hits',
    // With its jitter within five seconds.
    periodMs: 4_000,
    run: (context) => context.flushResponseHits(),
  },
  {
    name: 'look-at-delivery',
    // Waves hold for seconds.
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
    // What other jobs have taken and freed is some 10 MiB. A run takes a millisecond.
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
    // A crash loses as much; what counts are days.
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
