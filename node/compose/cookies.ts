// Provides the answering threads with the secrets of DNS cookies, from the settings, a file or a
// shared token, and keeps them current.
import { hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cookieCellBytes, secretBytes, SecretWriter } from '#answer/cookies/secret-cells.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { writeSecret } from '#process/data/data-dir.ts'
import type { DataDir } from '#process/data/data-dir.ts'
import { readBundleToken } from '#process/data/secrets.ts'
import type { Settings } from '#settings/settings.ts'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'
import { readCookieSecrets } from './cookie-secrets-file.ts'

export interface NodeCookies {
  /** Shared with the answering threads; undefined: cookies are off. */
  readonly cells: SharedArrayBuffer | undefined
  /** Reads the file of secrets again, if the settings name one. */
  readonly reread: () => void
  readonly stop: () => void
}

interface CookieParts {
  readonly settings: Pick<Settings, 'dns' | 'roles'>
  readonly dataDir: Pick<DataDir, 'path' | 'fault'>
  readonly env: Io['env']
  readonly clock: Clock
  readonly log: Log
}

/** Interval at which the time of cookies is advanced: they have whole seconds. */
const tickMs = 1_000
/** A shorter token might be guessed from a cookie, which everybody gets. */
const tokenLengthMin = 32
const ownBytes = 32

/** Errors: a sentence for the operator. */
export function startCookies(parts: CookieParts): Result<NodeCookies, string> {
  const { enabled, enforce, secretsFile } = parts.settings.dns.cookies
  if (!enabled || !parts.settings.roles.includes('dns')) return ok(noCookies)
  const cells = new SharedArrayBuffer(cookieCellBytes)
  const writer = new SecretWriter(cells, enforce)
  return secretsFile === undefined
    ? startDaily(parts, cells, writer)
    : startFixed(parts, cells, writer, secretsFile)
}

const noCookies: NodeCookies = {
  cells: undefined,
  reread: () => undefined,
  stop: () => undefined,
}

/** Uses the secrets of a file, which people replace. */
function startFixed(
  { clock, log }: CookieParts,
  cells: SharedArrayBuffer,
  writer: SecretWriter,
  path: string,
): Result<NodeCookies, string> {
  const read = (): Result<null, string> => {
    const secrets = readCookieSecrets(path)
    if (!secrets.ok) return err(`dns.cookies.secretsFile: ${secrets.error}`)
    writer.setFixed(secrets.value)
    log.info({ secrets: secrets.value.length }, 'secrets of DNS cookies are read')
    return ok(null)
  }
  const first = read()
  if (!first.ok) return first
  const stop = onTicks(clock, (nowSeconds) => writer.tick(nowSeconds))
  const reread = (): void => {
    const again = read()
    if (!again.ok) log.error({}, `${again.error}; the secrets before stay`)
  }
  return ok({ cells, reread, stop })
}

/** Derives a secret for each day from one that all nodes of a fleet have. */
function startDaily(
  parts: CookieParts,
  cells: SharedArrayBuffer,
  writer: SecretWriter,
): Result<NodeCookies, string> {
  const root = rootSecret(parts)
  if (!root.ok) return root
  assert(root.value.length >= ownBytes, 'secrets of cookies are made of 32 octets or more')
  const secretOf = (day: number): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', root.value, '', `gslbd dns cookies ${day}`, secretBytes))
  const stop = onTicks(parts.clock, (nowSeconds) => {
    writer.setDaily(nowSeconds, secretOf)
    writer.tick(nowSeconds)
  })
  return ok({ cells, reread: () => undefined, stop })
}

function onTicks({ nowMs }: Clock, tick: (nowSeconds: number) => void): () => void {
  const look = (): void => tick(Math.floor(nowMs() / 1_000))
  look()
  const timer = setInterval(look, tickMs).unref()
  return () => clearInterval(timer)
}

/**
 * The secret that all nodes of a fleet have: the token of bundles, or for control nodes without one
 * the key of their database. A node without either makes a secret of its own.
 */
function rootSecret(parts: CookieParts): Result<string | Uint8Array, string> {
  const { env, log } = parts
  const token = readBundleToken(env)
  if (!token.ok) return token
  if (token.value !== null && token.value.length >= tokenLengthMin) {
    return ok(token.value)
  }
  if (token.value !== null) {
    log.warn(
      {},
      `GSLB_BUNDLE_TOKEN has less than ${tokenLengthMin} characters: no secrets of DNS cookies ` +
        'are made of it, and other nodes do not know the cookies of this one; make a longer one ' +
        'with: openssl rand -hex 32',
    )
  }
  const key = variable(env, 'GSLB_SECRET_KEY')
  if (key !== undefined && /^[0-9a-f]{64}$/i.test(key)) {
    return ok(Buffer.from(key, 'hex'))
  }
  return ok(ownSecret(parts))
}

/** Stored, so that cookies stay valid after a restart; if it cannot be stored, they do not. */
function ownSecret({ dataDir, log }: CookieParts): Uint8Array {
  const path = join(dataDir.path, 'keys', 'dns_cookies')
  const made = randomBytes(ownBytes)
  try {
    if (existsSync(path)) {
      const kept = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex')
      if (kept.length === ownBytes) return kept
    }
    if (dataDir.fault() === null) writeSecret(path, `${made.toString('hex')}\n`)
  } catch (error) {
    log.warn({ err: error }, `${path} is not of use: a restart makes another one`)
  }
  return made
}
