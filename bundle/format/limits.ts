// Size limits of a bundle. The compiler refuses what a node could not load; both read this table.

export const bundleLimits = {
  /** Whole file. Far above a million services with four members each (about 300 MB). */
  bytesMax: 2_000_000_000,
  manifestBytesMax: 1_000_000,
  /** All files read. A million records have 75 MB; 10,000 services and pools 14 MB. */
  configurationBytesMax: 256 * 1024 * 1024,
  zonesMax: 4_000_000,
  servicesMax: 4_000_000,
  poolsMax: 2_000_000,
  membersMax: 16_000_000,
  rrsetsMax: 4_000_000,
  responseRulesMax: 1_000_000,
  redirectsMax: 1_000_000,
  /** Longest `targetUrl`, with each character as nine octets: percent-encoded UTF-8. */
  redirectTargetBytesMax: 18_432,
  /** Two years: the value that browsers' preload lists recommend. */
  hstsSecondsMax: 63_072_000,
  /** With `weightMax`, keeps a pool's sum of weights inside 32 bits. */
  membersPerPoolMax: 4_096,
  weightMax: 1_000_000,
  /** Addresses answered for one host name and family. */
  slotsPerHostname: 8,
  warmupThresholdMax: 1_000,
  /** Name servers of one zone or of one delegation. */
  nameserversPerZoneMax: 32,
  /** Types of one owner. */
  rrsetsPerNodeMax: 1_000,
  /** Records as in a message, without owners: as many as fit behind a chain of CNAMEs. */
  rrsetBytesMax: 60_000,
  /** Rules that match one client, of a pool or of `mapFile`. */
  endpointsPerNetworkMax: 64,
  /** Fits a reply of 512 octets in most cases. */
  answerCountMax: 16,
  filtersPerChainMax: 16,
  /** UTF-16 units of one entry of a chain, which may be a whole script. */
  filterLengthMax: 65_536,
  /** JSON of a policy: a full chain, each unit escaped as six octets. */
  policyBytesMax: 7_340_032,
  asnRulesMax: 10_000,
  /** Networks exempt from rate limits. */
  rateLimitExemptMax: 1_000,
  /** Zones that say whether they are transferred with a digest: more than a settings file names. */
  zoneDigestsMax: 200_000,
  /** UTF-16 units. */
  asnOrgLengthMax: 255,
  /** More than a settings file of at most 1 MiB can name. */
  signalRegionsMax: 200_000,
  /** Rollouts of one repository; all are evaluated at each tick of the clock. */
  rolloutsMax: 10_000,
  windowsMax: 10_000,
  stepsMax: 64,
  intentsMax: 64,
  weightPctMax: 100,
  /** RFC 2181 section 8: a TTL has 31 bits. */
  ttlSecondsMax: 2_147_483_647,
  /** Longest probe in the name index; the encoder picks a seed that stays within it. */
  probeLengthMax: 64,
} as const
