// What the Git side accepts, in bytes, counts and milliseconds.

export const gitLimits = {
  /** A raw commit object. Git's own messages are below a few kilobytes. */
  commitBytesMax: 256 * 1024,
  commitHeadersMax: 1_000,
  parentsMax: 64,
  /** An armored SSH signature of Ed25519 is about 300 bytes. */
  signatureBytesMax: 8 * 1024,
  attestationBytesMax: 16 * 1024,
  allowedSignersBytesMax: 1024 * 1024,
  allowedSignersLinesMax: 10_000,
  /** OpenSSH's: a longer pattern makes its whole list match nothing. */
  signerPatternBytesMax: 1_022,
  keyFileBytesMax: 16 * 1024,
  /** Commits that one push may bring; each is verified by itself. */
  newCommitsMax: 10_000,
  /** Commits of a whole history, counted for the serial of SOA records. */
  historyCommitsMax: 10_000_000,
  /** Commits that are compiled to find the one that removes names. */
  guardLooksMax: 64,
  /** Commits that answered lately, which a change may go back to. */
  earlierStatesMax: 16,
  /** How lately. */
  earlierStateMs: 24 * 3_600_000,
  /** Commits among these that one request may go back to, each for some of its files. */
  earlierLooksMax: 4,
  /** Commits that one change may say it goes back to; more are not looked at. */
  backNamesMax: 16,
  /** Commits among which one of them is looked for that has fewer digits. */
  backWalkedMax: 64,
  /** With a remote: commits for which one change finds out whether they have answered. */
  answeredMax: 16,
  /** Commits that are compiled for that. */
  answeredLooksMax: 128,
  /** Files that go back in one change; after more, what came between is forgotten. */
  takenBackFilesMax: 64,
  /** Commits looked at to find those. */
  walkedCommitsMax: 500_000,
  /** Entries of one accepted tree, all folders together. */
  treeEntriesMax: 500_000,
  treeDepthMax: 32,
  /** Files of a directory: far more than a configuration has, and `/` is not read to its end. */
  directoryFilesMax: 200_000,
  treeBytesMax: 16 * 1024 * 1024,
  /** Any object, as read from a repository: a delta of a few octets may make gigabytes. */
  objectBytesMax: 64 * 1024 * 1024,
  /** From an object in a pack to the whole one it is made of; what git itself permits. */
  deltasMax: 4_095,
  /** Objects of packs, kept for a moment as bases of others. */
  recentObjectsBytesMax: 32 * 1024 * 1024,
  /** Attestations a remote may announce; more are not looked at. */
  attestationRefsMax: 20_000,
  /** A remote that sends nothing for this long is given up. */
  networkIdleMs: 15_000,
  /** A whole request, first clone included. */
  networkTotalMs: 600_000,
  responseBytesMax: 1024 * 1024 * 1024,
  /** What the git program may print of a remote: refs, or progress. */
  programOutputBytesMax: 16 * 1024 * 1024,
  /** Characters of what a remote says, in a message. */
  remoteWordsMax: 200,
  /** Each fetch adds a pack to the mirror, and each is looked into: start over. */
  mirrorPacksMax: 100,
  /** A `.lock` file this old belongs to a process that died. */
  staleLockMs: 60_000,
  lockWaitMs: 1_000,
  backoffMaxMs: 300_000,
  /** The same for a repository on this machine, which nobody has to be spared. */
  localBackoffMaxMs: 5_000,
  /** Deaths of the thread that compiles on one commit, before that is held. */
  threadDeathsMax: 2,
  /** The same with deaths of the process, which may have been killed for another reason. */
  processDeathsMax: 3,
  /** Writes that wait for their commit; more are told to come back. */
  writeQueueMax: 2_048,
  /** Dry runs that wait at the same time; more are told to come back. */
  dryRunQueueMax: 64,
  /** Dry runs between two commits: each compiles by itself. */
  dryRunsPerTurn: 4,
  /** Requests that one commit carries. */
  writeBatchMax: 512,
  /** Operations of one request. */
  writeOperationsMax: 64,
  /** A write that waits for its turn, or is overtaken, for so long is given back to its client. */
  writeMs: 24_000,
  /** A branch that another push has locked is looked at again, each pause twice the one before. */
  remoteLockPausesMs: [40, 80, 160, 320, 640, 1_280],
  /** How long the status tells of a write that failed by a mistake of ours. */
  faultShownMs: 3_600_000,
  /** After such a write the accepted commit is read anew, but not for each of many requests. */
  startOverPauseMs: 60_000,
  /** A look so soon after objects were found to be there does not look for them again. */
  inspectPauseMs: 1_000,
  /** Longest random pause before another try: after a longer one a writer only loses again. */
  writeRetryMs: 40,
  /** Commits that one node pushes to a remote in a row before it lets others have their turn. */
  writeWinsMax: 8,
  /** The same when another one has written within `writeRivalsMs`. */
  writeWinsAmongRivalsMax: 2,
  writeRivalsMs: 30_000,
  /** The same after pushes in a row for so long: a writer that always loses is met by nobody. */
  writeRowMs: 5_000,
  /** A node makes room for others for at most so long: its own writes wait meanwhile. */
  writeRoomMaxMs: 12_000,
  /** Git may look for the commit that a name means for so long. */
  revisionMs: 15_000,
  /** Git may pack for so long. 20,000 commits with folders of 10,000 files took half a minute. */
  repackMs: 30 * 60_000,
  /** Git may write a repository to a backup, or read it from one, for so long. */
  bundleMs: 30 * 60_000,
  /** From being asked to end until it is killed; within what a job has when the node stops. */
  repackEndMs: 2_000,
  /** Before git is asked again when it was of no use. */
  repackPauseMs: 10 * 60_000,
  /** Characters that are kept of what git says about a failure. */
  repackMessageMax: 1_000,
  /** Unfinished packs of this age belong to nobody: a push that takes longer is given up. */
  leftoverMs: 24 * 3_600_000,
  /** What was read of the accepted commit, for the next start; more is read anew. */
  keptBytesMax: 512 * 1024 * 1024,
  /** While commits go on coming, it is written so often; and when the node stops. */
  keptEveryMs: 10 * 60_000,
  /** Listed in the status; the rest is counted. */
  diagnosticsMax: 100,
} as const
