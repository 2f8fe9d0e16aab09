// Limits on health probing: sockets, memory and time.

export const healthLimits = {
  /** Sockets open at once; a due probe beyond it waits and counts as late. */
  inFlightMax: 8_192,
  /** Probes started per turn of the event loop, so that responses of others are read in time. */
  startsPerTurnMax: 256,
  /** A probe that starts this long after it was due counts as late. */
  lateAfterMs: 250,
  /**
   * A deadline that is noticed this much too late says more about this node than about the backend.
   */
  stallMs: 250,
  /** Octets of a body that are read. */
  bodyBytesMax: 1_048_576,
  responseHeaderBytesMax: 16_384,
  /** 1xx responses before the final one (RFC 9110 section 15.2 sets no bound of its own). */
  interimResponsesMax: 10,
  /** A gRPC health response is one number; later versions may add fields. */
  grpcMessageBytesMax: 4_096,
  grpcSessionMemoryMb: 1,
  grpcHeaderPairsMax: 64,
  /** Packets with a wrong answer that are ignored before the probe fails. */
  dnsWrongAnswersMax: 100,
  /** How often a query is sent over UDP, spread over the time of the probe. */
  dnsSendsMax: 3,
  /** Interval at which files of client certificates are checked for renewal. */
  clientCertificateMs: 30_000,
  clientCertificateBytesMax: 1_048_576,
  /** Threads that lookups of webhook names may hold; name lookups and file reads share a few. */
  webhookLookupsMax: 3,
  /** A name that took longer shares one of these threads with other slow names. */
  slowLookupMs: 1_000,
  slowNamesMax: 10_000,
  /** Addresses of a name that are considered. */
  webhookAddressesMax: 16,
  /** Processes of script checks at the same time; a probe beyond waits, within its own time. */
  scriptsInFlightMax: 32,
  /** Shortest interval of sweeps for processes left by ended scripts, for all scripts together. */
  scriptSweepEveryMs: 500,
  /** Time for one sweep: processes that it has not found stay. */
  scriptSweepMs: 1_000,
  scriptSweepRoundsMax: 3,
  /** Processes examined in one turn of the event loop. */
  scriptSweepPerTurn: 32,
  scriptDescendantsMax: 1_000,
  /** Octets read of the environment of a process. */
  scriptEnvironBytesMax: 262_144,
  /** Log lines a minute about probes that this node may not send. */
  icmpForbiddenLinesPerMinute: 12,
  /** Interval at which echo replies are received while some are outstanding. */
  icmpPollMs: 5,
  icmpReadsPerTurnMax: 1_024,
  /** Shortest interval of two batches of results. */
  batchMs: 20,
  /** Interval at which counters are published while no verdict changes. */
  statsMs: 1_000,
  /** The baseline is the mean of the last five probes, once there are three. */
  rttProbesMax: 5,
  rttProbesMin: 3,
  /** Knowledge younger than this is never stale, however short the interval. */
  staleMsMin: 15_000,
  /** A round-trip time that a peer measured longer ago is ignored. */
  staleMsMax: 180_000,
  /** Interval at which other nodes are told of changes, and stale verdicts are looked for. */
  peerTickMs: 1_000,
  /** Interval at which unchanged verdicts are confirmed. */
  peerBeatMs: 5_000,
  /** Verdicts in one update. */
  peerBatchMax: 1_000,
  /** Each tick examines one of so many parts of the targets for verdicts that became stale. */
  peerSweepTicks: 5,
  /** Updates that may arrive while all verdicts are loaded; after more, they are loaded again. */
  peerBacklogMax: 1_000,
  /** Ticks after a failed load: doubled from 1 for each in a row, up to this. */
  peerLoadTicksMax: 64,
  /** After a silence of so long, other nodes probe the members of a node: three of its beats. */
  proberGoneMs: 15_000,
  /** After a silence of so long, a node is forgotten. */
  peerForgottenMs: 360_000,
  peerNodesMax: 256,
  /** Verdicts of all nodes on all members that are kept. */
  peerVotesMax: 2_000_000,
  /** Characters kept of another node's reason. */
  reasonLengthMax: 200,
  workerHeapMbMax: 512,
  /** Size of the young generation: Node would use 48 MiB, and not return it while probes run. */
  workerYoungHeapMbMax: 6,
  workerRestarts: { firstMs: 100, mostMs: 30_000 },
  /** A worker that lived for so long was not part of a crash loop. */
  workerStableMs: 60_000,
  /** How long `stop` waits for the worker before it is terminated. */
  workerStopMs: 2_000,
  /** How long a start waits for stored verdicts before it answers without them. */
  adoptPatienceMs: 1_000,
  saveRetries: { firstMs: 1_000, mostMs: 60_000 },
  /** Changes of one batch that are logged each; the others are summed up in one line. */
  logLinesPerBatchMax: 20,
} as const
