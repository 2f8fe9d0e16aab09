// The limits of traces.

export const telemetryLimits = {
  /** Spans that wait to be sent; those beyond are dropped and counted. */
  queueMax: 2_048,
  /** Spans in one request, as the batch processor of OpenTelemetry has it. */
  batchMax: 512,
  /** How long spans are gathered before they are sent. */
  gatherMs: 1_000,
  /** Pauses after a failure; a longer `Retry-After` is not respected beyond the longest. */
  retry: { firstMs: 1_000, mostMs: 60_000 },
  /** Octets of a response. */
  answerBytesMax: 65_536,
  /** How long a stop waits for what is still to be sent. */
  stopPatienceMs: 2_000,
  /** Commits whose nodes or responses are waited for; the oldest ends when there is another. */
  openMax: 256,
  /** How long a commit stays open when all is known: requests of one commit end one by one. */
  graceMs: 1_000,
  /** So long a commit waits for its nodes. */
  openMs: 600_000,
  /** Nodes of one trace: each has a span. */
  nodesMax: 1_000,
} as const
