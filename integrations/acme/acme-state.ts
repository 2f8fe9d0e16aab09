// The state of the certificates of an ACME server as one document: the account, the process that
// orders, and for each certificate what it is and why its last order failed.
import { fieldsOf, isFields, parseJson } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** Each directory needs an account of its own. */
export interface AcmeAccount {
  readonly directory: string
  /** PEM. A secret. */
  readonly key: string
}

export interface IssuedCertificate {
  readonly directory: string
  /** Lower case, without a final dot. */
  readonly names: readonly string[]
  /** PEM: the certificate, then those that lead to its root. */
  readonly chain: string
  /** PEM. A secret. */
  readonly key: string
  /** From the certificate, Unix epoch. */
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** By the clock of the database, Unix epoch. */
  readonly issuedAtMs: number
  /** When it should be renewed, by the same clock. */
  readonly renewAtMs: number
}

interface AcmeFailure {
  /** `away`, `challenge`, or a word of RFC 8555 section 6.7, such as `rateLimited`. */
  readonly code: string
  /** A sentence without its full stop. */
  readonly message: string
  /** Failures in a row, from 1. */
  readonly count: number
  readonly atMs: number
  /** No order is tried before. */
  readonly nextMs: number
}

/** Nothing is ordered until the pause is over. */
export interface AcmePause {
  /** A digest of the names that are not ordered: other settings are tried at once. */
  readonly wish: string
  readonly directory: string
  /** `limited`: by the CA. `replaced`: others were asked for in their place. */
  readonly why: 'failed' | 'limited' | 'replaced'
  /** In a row, from 1. */
  readonly count: number
  readonly atMs: number
  readonly nextMs: number
}

/** When the CA wants the certificate to be renewed. RFC 9773. */
export interface AcmeRenewal {
  /** Digest of the certificate. */
  readonly mark: string
  /** A moment in the window, drawn once; null: the CA says none. */
  readonly atMs: number | null
  readonly window: {
    readonly startMs: number
    readonly endMs: number
    /** Address of a page with the reason; null: none. */
    readonly why: string | null
  } | null
  /** The CA is not asked again before. */
  readonly nextMs: number
}

/** The answer to an HTTP request of the CA. RFC 8555 section 8.3. */
export interface HttpChallenge {
  /** Lower case. */
  readonly host: string
  readonly token: string
  readonly answer: string
}

/** What is known of one certificate. */
interface CertificateState {
  readonly certificate: IssuedCertificate | null
  /** The last failure; null: none since the certificate came. */
  readonly failure: AcmeFailure | null
  /** When the certificate before this one ends; null: there was none. */
  readonly beforeEndsMs: number | null
  /** null: the CA was not asked yet. */
  readonly renewal: AcmeRenewal | null
}

/** What it has of one certificate is that of `acme.names`. */
export interface AcmeState extends CertificateState {
  readonly account: AcmeAccount | null
  /** The process that orders, one certificate at a time; null: none does. */
  readonly holder: string | null
  /** All certificates have them together; the newest first. */
  readonly pauses: readonly AcmePause[]
  readonly challenges: readonly HttpChallenge[]
  /** By their entries in `acme.certificates`. */
  readonly more: Readonly<Record<string, CertificateState>>
}

const emptyCertificate: CertificateState = {
  ...{ certificate: null, failure: null, beforeEndsMs: null, renewal: null },
}

export const emptyState: AcmeState = {
  ...emptyCertificate,
  ...{ account: null, holder: null, pauses: [], challenges: [], more: {} },
}

export const acmeStateLimits = {
  /** Characters of the document. Sealing turns three octets into four letters. */
  textMax: 420_000,
  chainMax: 200_000,
  keyMax: 8_192,
  namesMax: 100,
  messageMax: 1_000,
  pausesMax: 40,
  /** Certificates beside that of `acme.names`, with those that settings do not name any more. */
  moreMax: 40,
  /** The latter are forgotten so long after their end and their last failure. */
  keptMs: 30 * 86_400_000,
  /** Characters of an address. */
  whyMax: 500,
} as const

const version = 1

/** Has private keys, so it is never stored or sent in the clear. */
export const printState = (state: AcmeState): string => JSON.stringify({ version, ...state })

/** Errors: a sentence without its full stop that reveals nothing of a key. */
export function readState(text: string): Result<AcmeState, string> {
  if (text.length > acmeStateLimits.textMax) return err(`it has ${text.length} characters`)
  const fields = fieldsOf(parseJson(text))
  if (fields['version'] !== version) return err(`it is no state of version ${version}`)
  const { account, certificate, holder, failure, challenges } = fields
  const { pauses = [], beforeEndsMs = null, renewal = null, more = {} } = fields
  const parts: readonly (readonly [string, boolean])[] = [
    ['account', account === null || isAccount(account)],
    ['certificate', certificate === null || isCertificate(certificate)],
    ['holder', holder === null || isText(holder, 300)],
    ['failure', failure === null || isFailure(failure)],
    ['pauses', isList(pauses, isPause)],
    ['beforeEndsMs', beforeEndsMs === null || isTime(beforeEndsMs)],
    ['renewal', renewal === null || isRenewal(renewal)],
    ['challenges', isList(challenges, isChallenge)],
    ['more', isFields(more) && areCertificates(more)],
  ]
  const wrong = parts.find(([, isRight]) => !isRight)
  if (wrong !== undefined) return err(`its ${wrong[0]} has another form`)
  const rest = { failure, pauses, challenges, beforeEndsMs, renewal, more }
  return ok({ account, certificate, holder, ...rest } as AcmeState)
}

/**
 * The state of one certificate, as if it were the only one.
 *
 * @param entry of `acme.certificates`; '': that of `acme.names`
 */
export function seenFrom(state: AcmeState, entry: string): AcmeState {
  if (entry === '') return state
  return { ...state, ...(Object.hasOwn(state.more, entry) ? state.more[entry] : emptyCertificate) }
}

/** The whole state after a change of one certificate; forgets those of long ago. */
export function writtenFrom(
  whole: AcmeState,
  entry: string,
  after: AcmeState,
  nowMs: number,
): AcmeState {
  if (entry === '') return after
  const others = Object.entries(whole.more)
    .filter(([other, one]) => other !== entry && isKept(one, nowMs))
    .toSorted(([, a], [, b]) => endOf(b) - endOf(a))
    .slice(0, moreMax - 1)
  const more = Object.fromEntries([...others, [entry, certificateIn(after)]])
  return { ...after, ...certificateIn(whole), more }
}

/** All certificates by their entries; '' is that of `acme.names`. */
export const certificatesIn = (state: AcmeState): ReadonlyMap<string, CertificateState> =>
  new Map([['', certificateIn(state)], ...Object.entries(state.more)])

/** The state with another certificate of the entry; others stay, unless they are too many. */
export function withCertificate(
  state: AcmeState,
  entry: string,
  certificate: IssuedCertificate | null,
): AcmeState {
  return writtenFrom(state, entry, { ...seenFrom(state, entry), certificate }, 0)
}

const certificateIn = (state: CertificateState): CertificateState => ({
  ...{ certificate: state.certificate, failure: state.failure },
  ...{ beforeEndsMs: state.beforeEndsMs, renewal: state.renewal },
})

const isKept = (one: CertificateState, nowMs: number): boolean =>
  endOf(one) >= nowMs - acmeStateLimits.keptMs

const endOf = ({ certificate, failure }: CertificateState): number =>
  // One that has ended and fails to be renewed is still wanted.
  Math.max(certificate?.notAfterMs ?? 0, failure?.atMs ?? 0)

const { chainMax, keyMax, namesMax, messageMax, whyMax, moreMax } = acmeStateLimits

const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length <= max
const isTime = (value: unknown): boolean => Number.isSafeInteger(value)
const isList = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length <= namesMax && value.every(isItem)

type Check = Readonly<Record<string, (value: unknown) => boolean>>
const has = (value: unknown, check: Check): value is Fields =>
  isFields(value) && Object.entries(check).every(([name, isRight]) => isRight(value[name]))

const url = (value: unknown): boolean => isText(value, 2_000)
const key = (value: unknown): boolean => isText(value, keyMax)
const name = (value: unknown): boolean => isText(value, 255)

const isAccount = (value: unknown): boolean => has(value, { directory: url, key })
const isCertificate = (value: unknown): boolean =>
  has(value, {
    ...{ directory: url, key, chain: (chain) => isText(chain, chainMax) },
    names: (names) => isList(names, name),
    ...{ notBeforeMs: isTime, notAfterMs: isTime, issuedAtMs: isTime, renewAtMs: isTime },
  })
const isFailure = (value: unknown): boolean =>
  has(value, {
    code: (code) => isText(code, 100),
    message: (message) => isText(message, messageMax),
    ...{ count: isTime, atMs: isTime, nextMs: isTime },
  })
const areCertificates = (more: Fields): boolean =>
  Object.keys(more).length <= moreMax &&
  Object.values(more).every((one) =>
    has(one, {
      certificate: (is) => is === null || isCertificate(is),
      failure: (is) => is === null || isFailure(is),
      beforeEndsMs: (is) => is === null || isTime(is),
      renewal: (is) => is === null || isRenewal(is),
    }),
  )
const isPause = (value: unknown): boolean =>
  has(value, {
    wish: (wish) => isText(wish, 64),
    why: (why) => why === 'failed' || why === 'limited' || why === 'replaced',
    ...{ directory: url, count: isTime, atMs: isTime, nextMs: isTime },
  })
const isWindow = (value: unknown): boolean =>
  has(value, { startMs: isTime, endMs: isTime, why: (why) => why === null || isText(why, whyMax) })
const isRenewal = (value: unknown): boolean =>
  has(value, {
    ...{ mark: (mark) => isText(mark, 64), nextMs: isTime },
    atMs: (atMs) => atMs === null || isTime(atMs),
    window: (window) => window === null || isWindow(window),
  })
const isChallenge = (value: unknown): boolean =>
  has(value, { host: name, token: (token) => isText(token, 200), answer: (is) => isText(is, 400) })
