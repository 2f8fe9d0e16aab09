// Limits on what external-dns sends and reads.
import { valuesPerRrsetMax } from '#schemas/objects/records.ts'

export const externalDnsLimits = {
  /** Octets of a body: about 10,000 endpoints. */
  bodyBytesMax: 4 * 1024 * 1024,
  /** Endpoints in each list of a request. */
  endpointsMax: 10_000,
  targetsMax: valuesPerRrsetMax,
  targetLengthMax: 65_535,
  /** A service of Amazon, which external-dns was made for first, has the same limit. */
  setIdentifierLengthMax: 128,
  propertiesMax: 64,
  propertyLengthMax: 4_096,
  /** Endpoints that `GET /records` gives; it has no pages. */
  recordsMax: 100_000,
  /** Endpoints that are printed at once. */
  recordsPerChunk: 500,
  /** Changes that wait for one under way. */
  waitingMax: 16,
  /** How often a change is computed anew because objects changed meanwhile. */
  triesMax: 4,
  /** The TTL of records for which external-dns names none. */
  ttlSecondsDefault: 300,
  connectionsMax: 64,
} as const
