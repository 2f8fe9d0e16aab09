// Limits on the Git side: octets, counts and milliseconds.

export const gitLimits = {
  /** Octets of a raw commit object. Git's own messages are below a few kilobytes. */
  commitBytesMax: 256 * 1024,
  commitHeadersMax: 1_000,
  parentsMax: 64,
  /** Octets of an armored SSH signature; one of Ed25519 has about 300. */
  signatureBytesMax: 8 * 1024,
  attestationBytesMax: 16 * 1024,
  allowedSignersBytesMax: 1024 * 1024,
  allowedSignersLinesMax: 10_000,
  /** OpenSSH's limit: a longer pattern makes its whole list match nothing. */
  signerPatternBytesMax: 1_022,
  keyFileBytesMax: 16 * 1024,
  /** Commits that one push may bring; each is verified by itself. */
  newCommitsMax: 10_000,
  /** Commits of a whole history, counted for the serial of SOA records. */
  historyCommitsMax: 10_000_000,
  /** Commits that are compiled to find the one that breaks a guardrail. */
  guardLooksMax: 64,
  /** Commits that answered lately, which a change may go back to. */
  earlierStatesMax: 16,
  /** How long ago a commit may have answered to count as an earlier state. */
  earlierStateMs: 24 * 3_600_000,
  /** Earlier states that one request may go back to, each for some of its files. */
  earlierLooksMax: 4,
  /** Commits that one change may name as what it goes back to; more are ignored. */
  backNamesMax: 16,
  /** Commits that are searched for a named one that is abbreviated. */
  backWalkedMax: 64,
  /** With a remote: commits for which one change finds out whether they answered. */
  answeredMax: 16,
  /** Commits that are compiled to find that out. */
  answeredLooksMax: 128,
  /** Files that go back in one change; when there are more, states in between are forgotten. */
  takenBackFilesMax: 64,
  /** Commits that a walk through the history visits. */
  walkedCommitsMax: 500_000,
  /** Entries of one accepted tree, all folders together. */
  treeEntriesMax: 500_000,
  treeDepthMax: 32,
  /**
   * Files read from a directory: far more than a configuration has, so that `/` is not read whole.
   */
  directoryFilesMax: 200_000,
  treeBytesMax: 16 * 1024 * 1024,
  /** Octets of any object of a repository: a delta of a few octets may inflate to gigabytes. */
  objectBytesMax: 64 * 1024 * 1024,
  /** Length of a chain of deltas in a pack; git's own limit. */
  deltasMax: 4_095,
  /** Octets of inflated objects of packs that are kept as bases of others. */
  recentObjectsBytesMax: 32 * 1024 * 1024,
  /** Attestations that a remote may list; more are ignored. */
  attestationRefsMax: 20_000,
  /** How long a remote may send nothing before it is given up. */
  networkIdleMs: 15_000,
  /** Duration of a whole request, the first clone included. */
  networkTotalMs: 600_000,
  responseBytesMax: 1024 * 1024 * 1024,
  /** Octets that the git program may print about a remote: refs, or progress. */
  programOutputBytesMax: 16 * 1024 * 1024,
  /** Characters of a remote's message that are shown. */
  remoteWordsMax: 200,
  /** Each fetch adds a pack to the mirror, and each read searches all: the mirror is made anew. */
  mirrorPacksMax: 100,
  /** A `.lock` file of this age belongs to a process that died. */
  staleLockMs: 60_000,
  lockWaitMs: 1_000,
  backoffMaxMs: 300_000,
  /** The longest pause for a repository on this machine, which needs no sparing. */
  localBackoffMaxMs: 5_000,
  /** How often the compiling thread may die on one commit before the commit is held. */
  threadDeathsMax: 2,
  /** How often the process may die on it: a process may have been killed for another reason. */
  processDeathsMax: 3,
  /** Writes that wait for their commit; further ones are refused as busy. */
  writeQueueMax: 2_048,
  /** Dry runs that wait at the same time; further ones are refused as busy. */
  dryRunQueueMax: 64,
  /** Dry runs that are done between two commits: each compiles by itself. */
  dryRunsPerTurn: 4,
  /** Requests in one commit. */
  writeBatchMax: 512,
  /** Operations in one request. */
  writeOperationsMax: 64,
  /** Operations in one request of a protocol that says all at once. */
  writeManyOperationsMax: 20_000,
  /** How long a write may wait for its turn, or lose races, before its client gets an answer. */
  writeMs: 24_000,
  /** Pauses before another look at a branch that another push has locked. */
  remoteLockPausesMs: [40, 80, 160, 320, 640, 1_280],
  /** How long the status shows a write that failed by a bug. */
  faultShownMs: 3_600_000,
  /** Pause between re-reads of the accepted commit after such writes, which may be many. */
  startOverPauseMs: 60_000,
  /** For so long after objects were checked for presence, they are not checked again. */
  inspectPauseMs: 1_000,
  /** Longest random pause before another try: after a longer one a writer only loses again. */
  writeRetryMs: 40,
  /** Commits that one node pushes to a remote in a row before it yields to other writers. */
  writeWinsMax: 8,
  /** The same, when another node has written within `writeRivalsMs`. */
  writeWinsAmongRivalsMax: 2,
  writeRivalsMs: 30_000,
  /** How long a node pushes in a row before it yields: a writer that always loses is never seen. */
  writeRowMs: 5_000,
  /** How long a node yields at most, since its own writes wait meanwhile. */
  writeRoomMaxMs: 12_000,
  /** How long git may search for the commit that a name means. */
  revisionMs: 15_000,
  /** How long git may pack. 20,000 commits with folders of 10,000 files took half a minute. */
  repackMs: 30 * 60_000,
  /** How long git may write a repository to a backup, or read it from one. */
  bundleMs: 30 * 60_000,
  /** From asking git to end until it is killed; shorter than what a job has when the node stops. */
  repackEndMs: 2_000,
  /** Pause after a packing that was of no use. */
  repackPauseMs: 10 * 60_000,
  /** Characters of git's message about a failure that are kept. */
  repackMessageMax: 1_000,
  /** Age at which an unfinished pack belongs to nobody: a push of that length is given up. */
  leftoverMs: 24 * 3_600_000,
  /** Octets of the accepted commit kept for the next start; a larger one is read from Git. */
  keptBytesMax: 512 * 1024 * 1024,
  /** How often it is written while commits go on coming. It is written at a stop as well. */
  keptEveryMs: 10 * 60_000,
  /** Characters of what parents were seen to have: 10,000 zones of four DS records each. */
  parentDsTextMax: 8 * 1024 * 1024,
  /** Diagnostics listed in the status; the others are counted. */
  diagnosticsMax: 100,
} as const
