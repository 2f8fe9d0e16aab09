// Limits on health probing: sockets, memory and time.

export const healthLimits = {
  /** Sockets open at once; a due probe beyond it waits and counts as late. */
  inFlightMax: 8_192,
  /** Probes started per turn of the event loop, so that responses of others are read in time. */
  startsPerTurnMax: 256,
  /** A probe that starts this long after it was due counts as late. */
  lateAfterMs: 250,
  /** A deadline that is noticed this much too late says more of this node than of the backend. */
  stallMs: 250,
  /** Octets of a body that are read at most. */
  bodyBytesMax: 1_048_576,
  responseHeaderBytesMax: 16_384,
  /** 1xx responses before the final one (RFC 9110 section 15.2 sets no bound of its own). */
  interimResponsesMax: 10,
  /** A gRPC health response is one number; later versions may add fields. */
  grpcMessageBytesMax: 4_096,
  grpcSessionMemoryMb: 1,
  grpcHeaderPairsMax: 64,
  /** Packets of a member that answer something else than what it was asked. */
  dnsWrongAnswersMax: 100,
  /** Times that a query is sent over UDP, spread over the time that the probe has. */
  dnsSendsMax: 3,
  /** Files of client certificates are looked at again after so long: they may be renewed. */
  clientCertificateMs: 30_000,
  clientCertificateBytesMax: 1_048_576,
  /** Threads that webhooks may hold, of the few that name lookups and file reads share. */
  webhookLookupsMax: 3,
  /** A name that took longer shares one of these threads with the other slow ones. */
  slowLookupMs: 1_000,
  slowNamesMax: 10_000,
  /** Addresses of one name that are looked at. */
  webhookAddressesMax: 16,
  /** Processes of script checks at once; a probe beyond it waits, within its own time. */
  scriptsInFlightMax: 32,
  /** What ended scripts have left is looked for so often at most, for all of them at once. */
  scriptSweepEveryMs: 500,
  /** Time for one look: what is not found in it stays. */
  scriptSweepMs: 1_000,
  scriptSweepRoundsMax: 3,
  /** Processes looked at in one turn of the event loop. */
  scriptSweepPerTurn: 32,
  scriptDescendantsMax: 1_000,
  /** What is read of the environment of a process. */
  scriptEnvironBytesMax: 262_144,
  /** Log lines per minute about probes that this node may not send. */
  icmpForbiddenLinesPerMinute: 12,
  /** Period at which echo replies are looked for while some are outstanding. */
  icmpPollMs: 5,
  icmpReadsPerTurnMax: 1_024,
  /** Two batches of results are at least this far apart. */
  batchMs: 20,
  /** Counters are published at this period when no verdict changes. */
  statsMs: 1_000,
  /** The baseline is the mean of the last five probes, once there are three. */
  rttProbesMax: 5,
  rttProbesMin: 3,
  /** Knowledge younger than this is never stale, however short the interval. */
  staleMsMin: 15_000,
  /** A round-trip time that a peer measured longer ago is ignored. */
  staleMsMax: 180_000,
  /** How often the other nodes are told of changes, and old words looked for. */
  peerTickMs: 1_000,
  /** How often what was told is confirmed when nothing has changed. */
  peerBeatMs: 5_000,
  /** Verdicts in one update. */
  peerBatchMax: 1_000,
  /** Each tick looks at one of so many shares of the targets for words that grew old. */
  peerSweepTicks: 5,
  /** Updates that may arrive while all is loaded; after more, all is loaded again. */
  peerBacklogMax: 1_000,
  /** Ticks after a load that came to nothing: doubled from 1 for each in a row, up to this. */
  peerLoadTicksMax: 64,
  /** Others probe the members of a node that was silent for so long: three of its beats. */
  proberGoneMs: 15_000,
  /** A node that was silent for so long is forgotten. */
  peerForgottenMs: 360_000,
  peerNodesMax: 256,
  /** Words of all nodes on all members that are kept. */
  peerVotesMax: 2_000_000,
  /** Characters of another node's reason why a member is down. */
  reasonLengthMax: 200,
  workerHeapMbMax: 512,
  /** Room for new objects: Node would give 48, and never gives them back while probes run. */
  workerYoungHeapMbMax: 6,
  workerRestarts: { firstMs: 100, mostMs: 30_000 },
  /** A worker that lived this long was not part of a crash loop. */
  workerStableMs: 60_000,
  /** How long `stop` waits for the worker before it is terminated. */
  workerStopMs: 2_000,
  /** How long a start waits for stored verdicts before it answers without them. */
  adoptPatienceMs: 1_000,
  saveRetries: { firstMs: 1_000, mostMs: 60_000 },
  /** Changes of one batch that get a log line each; the rest are summed up in one. */
  logLinesPerBatchMax: 20,
} as const
