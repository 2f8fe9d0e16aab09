// Defines the patterns of texts in schemas, each with a description for people.

/**
 * Characters that text for people must not have: control characters, U+0085 included, ends of lines
 * and paragraphs, and those that change the direction of writing (Bidi_Control of Unicode), so that
 * a name is what it looks like.
 */
export const hiddenSigns =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
/** Text for people. */
export const textPattern = `^[^${hiddenSigns}]*$`
/**
 * Empty, or a name for people, of which something can be seen: blanks, the first sign, then any.
 * With any in front of it, each sign of a long name that is refused would be tried as the first.
 */
export const namePattern = `^([^\\S${hiddenSigns}]*[^\\s${hiddenSigns}][^${hiddenSigns}]*)?$`
export const uuidPattern =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
/** Path of an HTTP request, which cannot have spaces (RFC 9112 section 3). */
export const requestPathPattern = '^/[!-~]*$'
export const hostPattern = '^[!-~]*$'
/** Empty, or a path that means the same from every working directory. */
export const programPathPattern = `^(/[^${hiddenSigns}]*)?$`
/** Empty, or an absolute address. */
export const httpAddressPattern = '^(https?://[!-~]+)?$'
/** A field name (RFC 9110 section 5.6.2). */
export const headerNamePattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$"
/** A field value that all servers take: printable ASCII, blanks inside. */
export const headerValuePattern = '^([!-~]([ -~]*[!-~])?)?$'
/** One status or a range of them, as text. */
export const statusRangePattern = '^[1-5][0-9]{2}(-[1-5][0-9]{2})?$'
/** Empty, or a name of the operator's. */
export const certificateNamePattern = '^([a-z0-9]([a-z0-9._-]*[a-z0-9])?)?$'
/** The setting `onAllDown`: answer of a pool without healthy members. */
export const onAllDownPattern = `^(empty|all|pool:[^${hiddenSigns}]+)$`
/** Id of a commit, or its beginning. */
export const commitPattern = '^[0-9a-f]{7,64}$'
/** Name of a tenant, or `*` for all tenants that are not named. */
export const tenantOrOthersPattern = '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?|\\*)$'

/** Empty, or a source, which of its services, and labels: what a discovered member asks. */
export const discoveredTextPattern =
  '^([a-z0-9][a-z0-9-]{0,31}(/[a-z0-9._/-]{1,150})?' +
  '(\\?[a-z0-9_.-]+=[a-z0-9_.:/-]+(&[a-z0-9_.-]+=[a-z0-9_.:/-]+)*)?)?$'

/** Lifetime of a zone's key. */
export const keyLifePattern = '^(never|[1-9][0-9]{0,3}[ydh])$'
/** Waiting time of a zone's keys. */
export const keyWaitPattern = '^(0|[1-9][0-9]{0,4}[dhms])$'

/** Rdata of a DNSKEY record: flags, protocol, algorithm, and the key in Base64. */
export const dnskeyPattern = '^25[67] 3 [0-9]{1,3} [A-Za-z0-9+/]{16,1400}={0,2}$'

/** Advice for each pattern: what a person should write. */
export const patternAdvice: Readonly<Record<string, string>> = Object.freeze({
  [textPattern]:
    'write it on one line, without control characters and signs that turn the direction',
  [namePattern]:
    'write it on one line, not of blanks alone, without control characters and signs that turn ' +
    'the direction',
  [uuidPattern]: 'write 32 hexadecimal digits as 01976c1e-7e5c-7000-8000-000000000001',
  [requestPathPattern]: 'start it with "/", and write spaces as %20 and other signs in ASCII',
  [hostPattern]: 'write it in ASCII, without spaces',
  [programPathPattern]: 'write an absolute path such as /usr/lib/gslbd/check',
  [headerValuePattern]: 'write it in printable ASCII, without blanks at its ends',
  [statusRangePattern]: 'write a status such as 200 or a range such as "200-299"',
  [certificateNamePattern]: 'write the name in small letters, digits, dashes and dots',
  [commitPattern]: 'write the id of a commit, or its first 7 digits at least, in small letters',
  [tenantOrOthersPattern]: 'write the name of a tenant, or "*" for each that is not named',
  [onAllDownPattern]: 'write empty, all, or pool:NAME with the name of a pool',
  [discoveredTextPattern]:
    'write SOURCE, SOURCE/NAME or SOURCE/NAME?LABEL=VALUE&LABEL=VALUE in small letters',
  [httpAddressPattern]: 'write it in ASCII, without spaces, beginning with http:// or https://',
  [keyLifePattern]: 'write years, days or hours such as 2y, 90d or 12h, or never',
  [dnskeyPattern]: 'write it as dig shows it, such as 257 3 13 and the key without spaces in it',
  [keyWaitPattern]: 'write days, hours, minutes or seconds such as 1d, 2h, 30m or 90s, or 0',
})
/** A tenant id is a folder name, and must be one on every file system. */
export const tenantIdPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
