// The certificates on a node of the role dns: sent by a control node, and kept in a copy.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import {
  certificatesIn,
  emptyState,
  readState,
  seenFrom,
  withCertificate,
} from '#integrations/acme/acme-state.ts'
import type { AcmeState } from '#integrations/acme/acme-state.ts'
import { certificateCopyFile, createCertificateCopy } from '#integrations/acme/certificate-copy.ts'
import { isOlder } from '#integrations/acme/renewal.ts'
import type { CertificateCopy } from '#integrations/acme/certificate-copy.ts'
import { KeyPuller, certificateKind } from '#fleet/keys/key-puller.ts'
import type { KeyPullerParts } from '#fleet/keys/key-puller.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { copyKeyOf } from '#node/signing/pull-keys.ts'
import { entriesIn, pairsIn } from '#server/tls/sources.ts'
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'

/** What a node has, or is sent. */
type SentState = Pick<AcmeState, 'certificate' | 'challenges' | 'more'>

/** Number of the certificates that fits into an envelope; 0: there is none. */
export function revisionOf(state: Pick<AcmeState, 'certificate' | 'more'>): number {
  const text = chainsOf(state)
  return text === '' ? 0 : numberOf(text)
}

/** Number of all that a node is sent: certificates and challenges. */
export function sentRevisionOf(state: SentState): number {
  const { challenges } = state
  return challenges.length === 0
    ? revisionOf(state)
    : numberOf(`${chainsOf(state)}${JSON.stringify(challenges)}`)
}

/** Older versions know the first one alone. */
function chainsOf({ certificate, more }: Pick<AcmeState, 'certificate' | 'more'>): string {
  const others = Object.entries(more)
    .flatMap(([entry, one]) => (one.certificate === null ? [] : [[entry, one.certificate.chain]]))
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
  return `${certificate?.chain ?? ''}${others.length === 0 ? '' : JSON.stringify(others)}`
}

/** What is there of these entries, without the account. */
export function partFor(state: SentState, entries: readonly string[]): AcmeState {
  let part: AcmeState = { ...emptyState, challenges: state.challenges }
  for (const [entry, { certificate }] of certificatesIn({ ...emptyState, ...state })) {
    const isWanted = certificate !== null && entries.includes(entry)
    if (isWanted) part = withCertificate(part, entry, certificate)
  }
  return part
}

const numberOf = (text: string): number =>
  Number.parseInt(hash('sha256', text).slice(0, 12), 16) + 1

export class PulledCertificate {
  /** Entries of `acme.certificates` that this node uses; '': `acme.names`. */
  readonly wanted: readonly string[]
  readonly #copy: CertificateCopy
  readonly #handlers = new Set<() => void>()
  readonly #nowMs: () => number
  #state: AcmeState = emptyState
  #sentRevision = 0

  constructor(
    copy: CertificateCopy,
    nowMs: () => number = systemClock.nowMs,
    wanted: readonly string[] = [''],
  ) {
    this.wanted = wanted
    this.#copy = copy
    this.#nowMs = nowMs
  }

  /** Takes what the copy has. */
  start(): void {
    this.#state = partFor(this.#copy.read() ?? emptyState, this.wanted)
    this.#sentRevision = sentRevisionOf(this.#state)
  }

  get state(): AcmeState {
    return this.#state
  }

  /** The revision that was sent last. */
  get sentRevision(): number {
    return this.#sentRevision
  }

  get revision(): number {
    return revisionOf(this.#state)
  }

  /** True: there is a certificate for each entry that this node uses. */
  get isComplete(): boolean {
    return this.wanted.every((entry) => seenFrom(this.#state, entry).certificate !== null)
  }

  onChange(handler: () => void): void {
    this.#handlers.add(handler)
  }

  /**
   * @param revision what the envelope said, which was signed
   * @param text what was in it
   * Errors: a sentence; certificates of which it has older ones stay, and all else is taken.
   */
  take(revision: number, text: string): Result<null, string> {
    const read = readState(text)
    if (!read.ok) return read
    if (sentRevisionOf(read.value) !== revision) return err('it is of another revision')
    let taken = partFor(read.value, this.wanted)
    let isBehind = false
    for (const [entry, { certificate: own }] of certificatesIn(this.#state)) {
      if (own === null) continue
      const { certificate } = seenFrom(taken, entry)
      const isBefore = certificate !== null && isOlder(certificate, own)
      const staysValid = isBefore && this.#nowMs() < own.notAfterMs
      // A control node whose database is new has none yet.
      if (certificate === null || staysValid) taken = withCertificate(taken, entry, own)
      isBehind ||= staysValid
    }
    // What has an older one is sent again and again, and written once.
    if (!isBehind || sentRevisionOf(taken) !== sentRevisionOf(this.#state)) this.#use(taken)
    if (isBehind) return err(older)
    this.#sentRevision = revision
    return ok(null)
  }

  #use(state: AcmeState): void {
    const hadOne = this.revision !== 0
    this.#state = state
    assert(!hadOne || this.revision !== 0, 'a certificate in use is only ever replaced')
    this.#copy.write(this.#state)
    for (const handler of this.#handlers) handler()
  }
}

const older = 'its certificate is older than the one in use, which is valid'

/** Control nodes give no certificate without a token. */
const noCopy: CertificateCopy = { read: () => undefined, write: () => undefined }

/** The copy is in force when this returns. null: the settings use no certificate. */
export function openPulledCertificate(
  { dns, redirect }: Pick<Settings, 'dns' | 'redirect'>,
  dataDir: string,
  env: Io['env'],
  log: Log,
): PulledCertificate | null {
  const pairs = [...pairsIn('dns.tls', dns.tls), ...pairsIn('redirect.https', redirect.https)]
  const wanted = [...new Set(entriesIn(pairs))]
  if (wanted.length === 0 && !redirect.acme) return null
  const key = copyKeyOf(env)
  const path = join(dataDir, certificateCopyFile)
  const pulled = new PulledCertificate(
    key === null ? noCopy : createCertificateCopy(path, key, log),
    systemClock.nowMs,
    wanted,
  )
  pulled.start()
  return pulled
}

type From = 'urls' | 'token' | 'report' | 'sealed' | 'trusted' | 'log'

export function pullCertificate(
  pulled: PulledCertificate,
  parts: Pick<KeyPullerParts, From>,
): KeyPuller {
  const puller = new KeyPuller({
    ...{ ...parts, asks: certificateKind, revision: () => pulled.sentRevision },
    take: ({ revision, content }) => pulled.take(revision, Buffer.from(content).toString()),
    isAnyMissing: () => !pulled.isComplete,
    ...{ after: systemAfter, monotonicMs: systemClock.monotonicMs },
  })
  puller.start()
  return puller
}
